"""What known agents keep in a home, by what a run may do with it.

Only what is listed exists for the run; whatever else it writes into its home is gone afterwards.
Settings, hooks, plugins and instructions are never writable: they would make the agent's next run,
outside, do something. ``private`` are directories of settings that an agent also writes into, maybe
when it starts (opencode 1.18 ends if it cannot): it has one of its own, with copies of the files
that are there, and their directories to read. ``copied`` are files that an agent rewrites as a
whole and that name programs to start: it gets a copy of its own. ``sessions`` are directories of
conversations, writable, and made where they are missing: what is said in an agent's first run must
not go with its private home.
Paths are relative to the home.
"""

from typing import NamedTuple


class AgentPlaces(NamedTuple):
    """Lists of paths below a home."""

    programs: tuple[str, ...]  # names the agent's program has
    sessions: tuple[str, ...] = ()
    writable: tuple[str, ...] = ()
    readable: tuple[str, ...] = ()
    private: tuple[str, ...] = ()
    copied: tuple[str, ...] = ()


def _below(directory: str, *names: str) -> tuple[str, ...]:
    return tuple(f"{directory}/{name}" for name in names)


AGENTS: dict[str, AgentPlaces] = {
    "claude": AgentPlaces(
        programs=("claude",),
        sessions=(".claude/projects",),
        writable=_below(
            ".claude",
            "todos",
            "tasks",
            "plans",
            "sessions",
            "file-history",
            "shell-snapshots",
            "session-env",
            "paste-cache",
            "statsig",
            "debug",
            ".credentials.json",
            "history.jsonl",
        ),
        readable=_below(
            ".claude",
            "settings.json",
            "settings.local.json",
            "CLAUDE.md",
            "agents",
            "commands",
            "skills",
            "plugins",
            "hooks",
            "rules",
            "output-styles",
            "keybindings.json",
            "local",
        ),
        copied=(".claude.json",),
    ),
    "codex": AgentPlaces(
        programs=("codex",),
        sessions=(".codex/sessions",),
        writable=_below(".codex", "archived_sessions", "log", "auth.json", "history.jsonl"),
        readable=_below(
            ".codex",
            "config.toml",
            "AGENTS.md",
            "prompts",
            "skills",
            "rules",
            "plugins",
            "packages",
        ),
        copied=_below(".codex", "version.json", "models_cache.json", "installation_id"),
    ),
    "gemini": AgentPlaces(
        programs=("gemini",),
        sessions=(".gemini/tmp",),
        writable=_below(".gemini", "history", "oauth_creds.json", "google_accounts.json"),
        readable=_below(
            ".gemini",
            "settings.json",
            "GEMINI.md",
            "commands",
            "extensions",
            "skills",
            "policies",
            ".env",
        ),
        copied=_below(
            ".gemini", "state.json", "projects.json", "installation_id", "trustedFolders.json"
        ),
    ),
    "qwen": AgentPlaces(
        programs=("qwen",),
        sessions=_below(".qwen", "tmp", "projects"),
        writable=_below(".qwen", "todos", "oauth_creds.json"),
        readable=_below(
            ".qwen", "settings.json", "QWEN.md", "commands", "extensions", "skills", ".env"
        ),
        copied=_below(".qwen", "installation_id", "trustedFolders.json"),
    ),
    "aider": AgentPlaces(
        programs=("aider",),
        writable=(".aider/caches",),
        readable=(".aider.conf.yml", ".aider.model.settings.yml", ".aider.model.metadata.json"),
        copied=_below(".aider", "analytics.json", "installs.json"),
    ),
    "opencode": AgentPlaces(
        programs=("opencode",),
        sessions=(".local/share/opencode",),
        writable=(".local/state/opencode",),
        private=(".config/opencode", ".opencode"),
    ),
    "crush": AgentPlaces(
        programs=("crush",),
        sessions=(".local/share/crush",),
        private=(".config/crush",),
    ),
    "goose": AgentPlaces(
        programs=("goose",),
        sessions=(".local/share/goose",),
        writable=(".local/state/goose",),
        private=(".config/goose",),
    ),
    "copilot": AgentPlaces(
        programs=("copilot",),
        sessions=(".copilot/session-state",),
        writable=_below(".copilot", "history-session-state", "logs"),
        readable=_below(".copilot", "mcp-config.json", "agents", "skills", "pkg"),
        copied=(".copilot/config.json",),
    ),
    "mini": AgentPlaces(
        programs=("mini", "mini-extra"),
        private=(".config/mini-swe-agent",),
    ),
    "llm": AgentPlaces(
        programs=("llm",),
        readable=_below(
            ".config/io.datasette.llm",
            "keys.json",
            "extra-openai-models.yaml",
            "default_model.txt",
            "aliases.json",
            "templates",
        ),
    ),
}

# Where programs are kept below a home: read-only, in every profile. Never a directory that also
# holds credentials (~/.cargo, ~/.config).
TOOLS = tuple(
    """
    .local/bin .local/lib .local/pipx .local/share/uv .local/share/pipx .local/share/pnpm
    .local/share/fnm .local/share/mise .local/share/claude .nvm .volta .bun/bin .deno/bin .pyenv
    .rbenv .asdf .sdkman .rustup .cargo/bin .cargo/env go/bin .npm-global .nix-profile
    .opencode/bin .juliaup .ghcup/bin .dotnet miniconda3 miniforge3 mambaforge anaconda3
    """.split()
)
# git's settings: who commits. Not ~/.config/git as a whole, which may hold credentials.
GIT_SETTINGS = (
    ".gitconfig",
    ".config/git/config",
    ".config/git/ignore",
    ".config/git/attributes",
)

AUTO = "auto"  # the agent's own profile when the command is one, else `workspace`
WORKSPACE = "workspace"  # nothing of the home but programs and git's settings
PROFILES = (AUTO, WORKSPACE, *AGENTS)


def profile_of(asked: str, program: str) -> str:
    """Return the profile in force for a program's name."""
    if asked != AUTO:
        return asked
    return next((name for name, agent in AGENTS.items() if program in agent.programs), WORKSPACE)
