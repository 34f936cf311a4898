"""Variables that make programs load or run something else."""

import re
from typing import TYPE_CHECKING

from siding.shellguard.fields import UNKNOWN, known
from siding.shellguard.hosts import is_elsewhere
from siding.shellguard.names import names
from siding.shellguard.paths import Zone

if TYPE_CHECKING:
    from siding.shellguard.examiner import Examiner
    from siding.shellguard.state import ShellState

# The value of these names a program or is a command line; it is allowed when the program is.
_COMMANDS = names(
    """
    AR BROWSER CARGO CC CMAKE_C_COMPILER_LAUNCHER CMAKE_CXX_COMPILER_LAUNCHER CXX EDITOR FCEDIT
    GIT_ASKPASS GIT_EDITOR GIT_EXTERNAL_DIFF GIT_PAGER GIT_PROXY_COMMAND GIT_SEQUENCE_EDITOR
    GIT_SSH GIT_SSH_COMMAND GIT_DIFF_OPTS HGEDITOR LD LESSCLOSE LESSOPEN MANPAGER MANROFFOPT
    PAGER PIP_EDITOR PSQL_EDITOR PSQL_PAGER PYTHONBREAKPOINT RSYNC_RSH RUSTC RUSTC_WRAPPER
    RUSTC_WORKSPACE_WRAPPER RUSTDOC SHELL SSH_ASKPASS SUDO_ASKPASS SUDO_EDITOR SVN_EDITOR
    SYSTEMD_EDITOR SYSTEMD_PAGER TEXEDIT VISUAL XDG_OPEN GH_PAGER GH_EDITOR GH_BROWSER BAT_PAGER
    DELTA_PAGER AWS_PAGER CVS_RSH GDB_EDITOR TERMINAL KUBECTL_EXTERNAL_DIFF KUBE_EDITOR
    RSYNC_CONNECT_PROG CCACHE_PREFIX CCACHE_PREFIX_CPP MAKE
    """
)
_HARMLESS = names(
    """
    cat less more head true false : vi vim nvim nano emacs code gcc g++ clang clang++ cc c++
    ccache sccache mold ld lld ar rustc cargo bash sh zsh fish /bin/sh /bin/bash /usr/bin/bash
    /bin/zsh /usr/bin/zsh delta bat most ssh echo make gmake
    """
)

# These make the programs that read them load code, options or configuration.
_LOADERS = names(
    """
    BASHOPTS BASH_ENV CARGO_HOME CDPATH CURL_HOME DOCKER_CONFIG DOCKER_HOST ENV ERL_AFLAGS
    ERL_FLAGS GCONV_PATH GIT_ALLOW_PROTOCOL GIT_CEILING_DIRECTORIES GIT_COMMON_DIR GIT_CONFIG
    GIT_CONFIG_GLOBAL GIT_CONFIG_PARAMETERS GIT_CONFIG_SYSTEM GIT_DIR GIT_EXEC_PATH
    GIT_INDEX_FILE GIT_NAMESPACE GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES
    GIT_TEMPLATE_DIR GIT_WORK_TREE GIT_REPLACE_REF_BASE GNUMAKEFLAGS HOME HISTFILE INPUTRC
    JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS _JAVA_OPTIONS LUA_INIT MAKEFILES
    DOTNET_STARTUP_HOOKS DOTNET_ADDITIONAL_DEPS R_PROFILE R_ENVIRON R_ENVIRON_USER
    PIP_TARGET PIP_PREFIX PIP_FIND_LINKS PIP_TRUSTED_HOST UV_DEFAULT_INDEX UV_INDEX
    npm_config_prefix NPM_CONFIG_PREFIX npm_config_globalconfig NPM_CONFIG_GLOBALCONFIG
    npm_config_node_options NPM_CONFIG_NODE_OPTIONS npm_config_global NPM_CONFIG_GLOBAL
    GCC_EXEC_PREFIX COMPILER_PATH PYTEST_PLUGINS HOSTALIASES PSQLRC PGSERVICEFILE GTK_MODULES
    SSLKEYLOGFILE LESSKEYIN LESSKEY XDG_DATA_HOME XDG_DATA_DIRS NVIM_APPNAME VIMRUNTIME TAPE
    RSYNC_PROXY AWKLIBPATH HELM_PLUGINS DOCKER_CONTEXT IRBRC PRYRC ERL_ZFLAGS
    ELIXIR_ERL_OPTIONS ANSIBLE_LIBRARY EMACSLOADPATH
    NODE_REPL_EXTERNAL_MODULE OPENSSL_CONF OPENSSL_ENGINES OPENSSL_MODULES PERL5DB PERL5OPT
    PHPRC PHP_INI_SCAN_DIR PIP_CONFIG_FILE PIP_EXTRA_INDEX_URL PIP_INDEX_URL UV_INDEX_URL
    UV_EXTRA_INDEX_URL PROMPT_COMMAND PS0 PS4 PYTHONHOME PYTHONINSPECT PYTHONSTARTUP
    PYTHONUSERBASE PYTHONEXECUTABLE PYTHONWARNINGS RIPGREP_CONFIG_PATH RUBYOPT SHELLOPTS
    TAR_OPTIONS TERMINFO VIMINIT EXINIT WGETRC XDG_CONFIG_HOME ZDOTDIR ZSH GOPROXY GONOSUMDB
    GONOSUMCHECK GOINSECURE GOENV GEM_HOME BUNDLE_GEMFILE npm_config_registry
    NPM_CONFIG_REGISTRY npm_config_script_shell NPM_CONFIG_SCRIPT_SHELL npm_config_userconfig
    NPM_CONFIG_USERCONFIG YARN_YARN_PATH
    """
)
_LOADER_NAMES = re.compile(
    r"(?:LD|DYLD)_|GIT_CONFIG_(?:COUNT|KEY_|VALUE_)|BASH_FUNC_|"
    r"LUA_INIT_|COR(?:ECLR)?_PROFILER|ANSIBLE_\w+_PLUGINS$|CARGO_TARGET_\w+_(?:RUNNER|LINKER)$|CARGO_BUILD_RUSTC"
)
# Places and files of the workspace may stand in these.
_PATH_LISTS = names("""
    ANSIBLE_CONFIG AWKPATH AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE CLASSPATH ERL_LIBS GEM_PATH
    GOPATH GUILE_LOAD_PATH JULIA_LOAD_PATH KUBECONFIG LUA_CPATH LUA_PATH NODE_PATH PERL5LIB
    PYTHONPATH R_LIBS R_LIBS_USER R_PROFILE_USER RUBYLIB TCLLIBPATH TF_CLI_CONFIG_FILE
    UV_CONFIG_FILE
""")
# Switches: their names, the values that matter, and the rule.
_ON = r"(?!0$|false$|$)"
_SWITCHES = (
    (r"PIP_(?:BREAK_SYSTEM_PACKAGES|USER)$", _ON, "install-elsewhere"),
    (r"UV_(?:BREAK_SYSTEM_PACKAGES|SYSTEM_PYTHON)$", _ON, "install-elsewhere"),
    (r"GIT_SSL_NO_VERIFY$", _ON, "skips-checks"),
    (r"(?:NODE_TLS_REJECT_UNAUTHORIZED|PYTHONHTTPSVERIFY)$", r"0$", "skips-checks"),
    (r"GOOSE_MODE$", r"auto$", "unguarded-agent"),
    (r"OPENCODE_PERMISSION$", r".*\ballow", "unguarded-agent"),
    (r"GEMINI_SANDBOX$", r"(?:false|0|no)$", "unguarded-agent"),
    (r"AIDER_YES(?:_ALWAYS)?$|CODEX_UNSAFE_\w+$", _ON, "unguarded-agent"),
    (r"\w+_(?:SKIP_PERMISSIONS|AUTO_APPROVE|YOLO)$", _ON, "unguarded-agent"),
    (r"TF_CLI_ARGS(?:_\w+)?$", r".*(?:auto-approve|destroy)", "change-remote"),
)
_OPTIONS = {
    "NODE_OPTIONS": re.compile(
        r"(?:^|\s)(?:-r|--require|--import|--(?:experimental-)?loader"
        r"|--inspect|--env-file)"
    ),
    "GOFLAGS": re.compile(r"exec|vettool|overlay|modfile"),
    "MAVEN_OPTS": re.compile(r"agent"),
    "MAVEN_ARGS": re.compile(r"agent|exec|deploy"),
    "SBT_OPTS": re.compile(r"agent"),
    "MAKEFLAGS": re.compile(
        r"=|eval|(?:^|\s)-(?!-?(?:j\d*|k|s|B|i|jobs|silent|keep-going|no-print-directory)\b)"
    ),
    "GRADLE_OPTS": re.compile(r"agent|init"),
    "JAVA_OPTS": re.compile(r"agent"),
    "PYTEST_ADDOPTS": re.compile(r"(?:^|\s)(?:-p(?!\s*no:)|-c|--rootdir|-o|--override)"),
    "RUSTFLAGS": re.compile(r"linker|link-arg"),
    "CFLAGS": re.compile(r"-fplugin|-wrapper|-B"),
    "LESS": re.compile(r"!|-k|lesskey"),
}

# Directories of the system, where only an administrator installs programs.
_PATH_OK = re.compile(r"(?:/(?:usr|opt|nix|snap)(?:/(?!\.\./)[\w.+@-]+)*)?/s?bin$")
_PATH_PROJECT = re.compile(r"/(?:node_modules/\.bin|\.?venv/bin|vendor/bin|\.tox/[^/]+/bin)$")
_PATH_HOME = re.compile(
    r"/(?:\.local|\.cargo|go|\.deno|\.bun|\.nvm/[^:]*"
    r"|\.(?:rb|py)env/(?:shims|versions/[\w.-]+))(?:/bin)?$"
)


def judge_variable(
    examiner: "Examiner", name: str, value: str, state: "ShellState", lasting: bool
) -> None:
    """Judge ``name=value``; `lasting` is False when it stands before one command only."""
    if name.startswith("SIDING_"):
        examiner.found("siding-itself", name)
    elif name == "PATH":
        _search_path(examiner, value, state)
    elif name in _COMMANDS:
        _command(examiner, name, value, state)
    elif name in _PATH_LISTS:
        _places(examiner, name, value, state)
    elif name in _OPTIONS:
        if not known(value) or _OPTIONS[name].search(value):
            examiner.found("loads-code", f"{name}={value}")
    elif name in _LOADERS or _LOADER_NAMES.match(name):
        if value or not lasting:
            examiner.found("loads-code", f"{name}={value}")
        if " " in value and known(value):
            examiner.inner_text(f"{name}=", value, state)
    else:
        _switch(examiner, name, value, state)


def _switch(examiner: "Examiner", name: str, value: str, state: "ShellState") -> None:
    """Judge a variable whose value decides whether it matters."""
    for names_of, values, rule in _SWITCHES:
        if re.match(names_of, name) and re.match(values, value):
            examiner.found(rule, f"{name}={value}")
    if name.lower() in ("http_proxy", "https_proxy", "all_proxy") and is_elsewhere(value):
        examiner.found("send-data", f"{name}={value}")
    elif name.startswith("GIT_TRACE") and value.startswith(("/", "~", UNKNOWN)):
        examiner.writes(value, state)
    elif name == "FZF_DEFAULT_COMMAND" and known(value):
        examiner.inner_text(f"{name}=", value, state)


def _search_path(examiner: "Examiner", value: str, state: "ShellState") -> None:
    for entry in value.split(":"):
        if entry == UNKNOWN or _PATH_OK.match(entry):
            continue
        zone = examiner.zone(entry, state) if entry.startswith("/") else Zone.UNKNOWN
        if zone is Zone.INSIDE and _PATH_PROJECT.search(entry):
            continue
        if zone is Zone.HOME and _PATH_HOME.search(entry):
            continue
        examiner.found("loads-code", f"PATH={value}")
        return


def _command(examiner: "Examiner", name: str, value: str, state: "ShellState") -> None:
    words = value.split()
    plain = known(value) and not set(value) & set("|;&$`<>(){}!\n")
    flags_only = all(w.startswith("-") and not w.startswith("-o") for w in words[1:])
    if plain and flags_only and (not words or words[0] in _HARMLESS):
        return
    examiner.found("loads-code", f"{name}={value}")
    if known(value):
        examiner.inner_text(f"{name}=", value, state)


def _places(examiner: "Examiner", name: str, value: str, state: "ShellState") -> None:
    for entry in value.split(":"):
        if entry in ("", UNKNOWN):
            continue
        if not examiner.is_workspace(entry, state):
            examiner.found("loads-code", f"{name}={value}")
            return
