"""The table of start-up files: what of a home runs when a person logs in, or uses git or ssh."""

# Paths relative to the home. `.config` is `$XDG_CONFIG_HOME`, if that is set.
START_UP_FILES: tuple[str, ...] = (
    # shells
    ".profile",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".bashrc",
    ".zshenv",
    ".zprofile",
    ".zshrc",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".mkshrc",
    ".cshrc",
    ".tcshrc",
    ".login",
    ".config/fish/config.fish",
    ".config/direnv/direnvrc",
    # the session
    ".pam_environment",
    ".xprofile",
    ".xsession",
    ".xsessionrc",
    ".xinitrc",
    # ssh
    ".ssh/authorized_keys",
    ".ssh/authorized_keys2",
    ".ssh/config",
    ".ssh/environment",
    ".ssh/rc",
    # git
    ".gitconfig",
    ".config/git/config",
    ".config/git/attributes",
)
# Directories of which every file counts: units of services and agents, pieces of shell.
START_UP_DIRECTORIES: tuple[str, ...] = (
    ".config/systemd/user",
    ".local/share/systemd/user",
    ".config/environment.d",
    ".config/autostart",
    ".config/plasma-workspace/env",
    ".config/fish/conf.d",
    ".bashrc.d",
    ".zshrc.d",
    "Library/LaunchAgents",
)
