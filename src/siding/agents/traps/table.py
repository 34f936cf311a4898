"""The table of traps: files of a working tree that a program runs, or takes orders from, later.

A row is one program and one occasion. It does not say that such a file is bad: most are ordinary
parts of a project. It says that who writes one decides what runs then.

An agent's are in its row of `agents.table`. `matching.py` says what a pattern means, `parts.py`
what a part is.
"""

from siding.agents.table import AGENTS
from siding.ground.namedtuples import NamedTuple


class TrapRow(NamedTuple):
    """A program, when it runs what a file says, and the patterns of such files.

    `patterns` are separated by spaces. With `part`, only this part of a file's content counts.
    """

    by: str
    when: str
    patterns: str
    part: str = ""


_ENTERED = "when somebody enters the directory"
_OPENED = "when the folder is opened in it"
_STARTED = "when it is started here"
_USED = "when it is used here"
_CONFIGURED = "where git's settings name it"
_PUSHED = "when it is pushed"
_RUN = "when it is run"
_LINTED = "when it, or the editor, is run"
_BUILT = "when it is run, or the folder is opened in an IDE"
_CODE = "js,cjs,mjs,ts,cts,mts"

# The first row that matches a path names it, so the more particular ones come first.
TABLE: tuple[TrapRow, ...] = (
    # -- the shell, and what changes its environment
    TrapRow("direnv", _ENTERED, ".envrc .direnvrc"),
    TrapRow("mise", _ENTERED, "{,.}mise{,.*}.toml .rtx.toml .mise/ /mise/ .config/mise/"),
    TrapRow("autoenv", _ENTERED, ".autoenv{,.leave,.zsh} .autoenv_leave.zsh"),
    TrapRow("devbox", _STARTED, "devbox.json"),
    TrapRow("nix", _STARTED, "{flake,shell,default,devenv}.nix"),
    TrapRow("tmuxinator", _STARTED, ".tmuxinator.y{,a}ml"),
    # -- editors
    TrapRow("VS Code", _OPENED, ".vscode/ *.code-workspace"),
    TrapRow(
        "JetBrains' IDEs",
        _OPENED,
        ".idea/runConfigurations/ .idea/tools/ .idea/watcherTasks.xml .idea/startup.xml "
        ".idea/workspace.xml .idea/externalTools.xml .run/ *.run.xml *.ipr *.iws",
    ),
    TrapRow("Zed", _OPENED, ".zed/"),
    TrapRow("Visual Studio", _OPENED, ".vs/ {tasks,launch}.vs.json"),
    TrapRow("Sublime Text", _OPENED, "*.sublime-project"),
    TrapRow("Fleet", _OPENED, ".fleet/"),
    TrapRow("Helix", _STARTED, ".helix/"),
    TrapRow("Vim", _STARTED, ".{,g,n,l}vimrc .exrc .nvim.lua .nvimrc .vimspector.json"),
    TrapRow("YouCompleteMe", "when a file is opened in Vim", ".ycm_extra_conf.py"),
    TrapRow("Emacs", "when a file is opened in it", ".dir-locals{,-2}.el"),
    TrapRow("clangd", "when a file is opened", ".clangd"),
    TrapRow("Haskell's language server", _OPENED, "hie.yaml .hie-bios"),
    TrapRow(
        "a container of the editor", _OPENED, ".devcontainer/ .devcontainer.json .idx/ .gitpod.*"
    ),
    # -- agents: their settings run commands, their instructions steer them
    *(TrapRow(agent.title, _STARTED, agent.traps) for agent in AGENTS if agent.traps),
    TrapRow("agents, by MCP", _STARTED, ".mcp.json mcp.json"),
    TrapRow("Cursor", _OPENED, ".cursor/ .cursorrules"),
    TrapRow("Windsurf", _OPENED, ".windsurf/ .windsurfrules"),
    TrapRow("Cline", _OPENED, ".clinerules .clinerules/ .cline/"),
    TrapRow("Roo Code", _OPENED, ".roo/ .roomodes .roorules"),
    TrapRow("Continue", _OPENED, ".continue/ .continuerc.json"),
    TrapRow("Kiro", _OPENED, ".kiro/"),
    TrapRow("Junie", _OPENED, ".junie/"),
    TrapRow("agents", _STARTED, "AGENT{,S}{,.override}.md .agent{,s}/"),
    # -- git, and what hangs on it
    TrapRow("husky", "at git's hooks", ".husky/ .huskyrc{,.*} husky.config.*"),
    TrapRow("git", "at its hooks, where its settings name them", "{,.}{githooks,git-hooks}/"),
    TrapRow("lefthook", "at git's hooks", "{,.}lefthook{,-local}.{yml,yaml,toml,json} .lefthook/"),
    TrapRow("pre-commit", "at git's hooks", ".pre-commit-config.y{,a}ml .pre-commit-hooks.y{,a}ml"),
    TrapRow("overcommit", "at git's hooks", ".overcommit.yml"),
    TrapRow("lint-staged", "at git's hooks", ".lintstagedrc{,.*} lint-staged.config.*"),
    TrapRow(
        "git",
        "when it reads or writes a file, where its settings name the driver",
        ".gitattributes",
        r"lines:\b(filter|diff|merge|working-tree-encoding)\b",
    ),
    TrapRow("git", "when submodules are fetched", ".gitmodules"),
    TrapRow("git", _CONFIGURED, ".gitconfig"),
    TrapRow("Git LFS", "when it fetches or pushes", ".lfsconfig"),
    TrapRow("Mercurial", _USED, ".hg/hgrc"),
    # -- Siding
    TrapRow("Siding", "when it is used in this repository", ".siding/"),
    # -- JavaScript
    TrapRow("npm, yarn, pnpm, bun, node", _USED, ".npmrc .yarnrc{,.yml} .yarn/{releases,plugins}/"),
    TrapRow("pnpm", "when packages are installed", "{,.}pnpmfile.{js,cjs} pnpm-workspace.yaml"),
    TrapRow("bun", _STARTED, "bunfig.toml"),
    TrapRow(
        "npm and its kind",
        "when packages are installed, or a script is run",
        "package.json",
        "json:scripts,packageManager,husky,lint-staged,simple-git-hooks,gitHooks,pre-commit",
    ),
    TrapRow("deno", "when a task is run", "deno.json{,c}", "json:tasks"),
    TrapRow("npm and its kind", "when a script is run", "node_modules/.{bin,hooks}/"),
    TrapRow("Node.js tools", _LINTED, f"*.config.{{{_CODE}}}"),
    TrapRow("linters and formatters", _LINTED, f".*rc.{{{_CODE}}}"),
    TrapRow("Mocha", "when tests are run", ".mocharc{,.*}"),
    TrapRow("karma", "when tests are run", "karma.conf.*"),
    TrapRow("a task runner", _RUN, "{Gulpfile,Gruntfile,Jakefile}{,.*}"),
    # -- Python
    TrapRow("pytest", "when tests are collected", "conftest.py pytest.{ini,toml}"),
    TrapRow("Python", "whenever it is started", "{site,user}customize.py *.pth"),
    TrapRow("pip and its kind", "when the package is built or installed", "setup.py setup.cfg"),
    TrapRow(
        "Python's tools",
        "when they are run, or the package is built",
        "pyproject.toml",
        "toml:build-system,project.scripts,tool.setuptools,tool.hatch,tool.pdm,tool.poe,"
        "tool.poetry.build,tool.poetry.scripts,tool.taskipy,tool.pixi,tool.rye,tool.pytest,"
        "tool.tox,tool.mypy,tool.pylint,tool.coverage,tool.cibuildwheel",
    ),
    TrapRow("tox, nox", _RUN, "tox.ini tox.toml noxfile.py"),
    TrapRow("linters", _LINTED, "{,.}pylintrc{,.toml} .flake8 mypy.ini"),
    TrapRow("coverage", "when tests are run", ".coveragerc"),
    TrapRow(
        "invoke, fabric, doit, scons",
        _RUN,
        "/{tasks,fabfile,dodo}.py SConstruct SConscript",
    ),
    TrapRow("an activated environment", "when its programs are used", "{,.}venv/{bin,Scripts}/"),
    TrapRow("Python's debugger", _STARTED, ".pdbrc{,.py}"),
    # -- other languages
    TrapRow("cargo, rust-analyzer", _USED, "build.rs .cargo/ rust-toolchain{,.toml}"),
    TrapRow("cargo", _USED, "Cargo.toml", r"lines:^\s*(build|proc-macro)\s*="),
    TrapRow(
        "Gradle",
        _BUILT,
        "*.gradle{,.kts} gradlew{,.bat} gradle.properties gradle/wrapper/ buildSrc/",
    ),
    TrapRow("Maven", _BUILT, "pom.xml mvnw{,.cmd} .mvn/"),
    TrapRow("sbt, mill", _RUN, "*.sbt build.{sc,mill} project/*.scala .sbtopts"),
    TrapRow("bundler, rake, rspec", _RUN, "Gemfile *.gemspec Rakefile *.rake .rspec"),
    TrapRow("rubocop, solargraph", _LINTED, ".rubocop.yml .solargraph.yml"),
    TrapRow("Ruby's consoles", _STARTED, ".{irb,pry}rc"),
    TrapRow("guard, foreman, vagrant", _RUN, "Guardfile Procfile{,.*} Vagrantfile"),
    TrapRow("composer", _RUN, "composer.json", "json:scripts"),
    TrapRow(
        "mix, iex, rebar",
        _LINTED,
        "mix.exs .iex.exs .formatter.exs rebar.config",
    ),
    TrapRow("swift, CocoaPods", _RUN, "Package.swift Podfile"),
    TrapRow("R", _STARTED, ".Rprofile .Renviron"),
    TrapRow("ghci, ocaml", _STARTED, ".ghci .ocamlinit"),
    TrapRow("gdb, lldb", _STARTED, ".gdbinit .lldbinit"),
    TrapRow("luacheck", _LINTED, ".luacheckrc .busted"),
    # -- builds
    TrapRow("make", _RUN, "{GNU,BSD,}Makefile{,.*} *.mk"),
    TrapRow("just", _RUN, "{,.}justfile *.just"),
    TrapRow("task", _RUN, "{Taskfile,Taskfile.dist}.y{,a}ml"),
    TrapRow(
        "cmake, ninja, meson",
        _RUN,
        "CMake{Lists.txt,{,User}Presets.json} *.{cmake,ninja} meson.build",
    ),
    TrapRow(
        "bazel",
        _RUN,
        ".bazelrc .bazelversion {WORKSPACE,MODULE}{,.bazel} tools/bazel",
    ),
    TrapRow("waf, earthly, tilt", _RUN, "wscript /waf Earthfile Tiltfile"),
    TrapRow("docker compose", _RUN, "{docker-,}compose{,.*}.y{,a}ml"),
    # -- on somebody's server
    TrapRow(
        "GitHub, Gitea, Forgejo",
        _PUSHED,
        ".{github,gitea,forgejo}/{workflows,actions}/ action.y{,a}ml",
    ),
    TrapRow(
        "a build server",
        _PUSHED,
        ".gitlab-ci.y{,a}ml .gitlab/ci/ .circleci/ .travis.yml azure-pipelines.y{,a}ml Jenkinsfile "
        ".drone.y{,a}ml .woodpecker.y{,a}ml .woodpecker/ .buildkite/ bitbucket-pipelines.y{,a}ml "
        "{,.}appveyor.y{,a}ml cloudbuild.y{,a}ml .semaphore/ buildspec.y{,a}ml .teamcity/ "
        ".cirrus.y{,a}ml",
    ),
    TrapRow("a host of sites", _PUSHED, "netlify.toml vercel.json"),
)
