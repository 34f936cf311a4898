"""The table of traps: files of a working tree that a program runs, or takes orders from, later.

A row is one program and one occasion. It does not say that such a file is bad: most are ordinary
parts of a project. It says that who writes one decides what runs then. An agent's are in its row of
`agents.table`.

A pattern names the end of a path, in whole components: ``.vscode/tasks.json`` matches in any
directory. With a ``/`` before it, it has to be the whole path. One that ends in ``/`` matches
everything below a directory of that name. ``*`` and ``?`` stand for letters of one component,
``{a,b}`` for either; case does not count, because some file systems ignore it.

A part is what counts of a file of which only a part is run. ``lines:EXPRESSION`` are the lines in
which it is found. ``json:a,b`` and ``toml:a,b.c`` are the values below these keys. Content that
cannot be parsed counts as a whole.
"""

import json
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from siding.agents.table import AGENTS
from siding.ground.namedtuples import NamedTuple

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


class TrapRow(NamedTuple):
    """A program, when it runs what a file says, and the patterns of such files.

    `patterns` are separated by spaces. With `part`, only this part of a file's content counts.
    """

    by: str
    when: str
    patterns: str
    part: str = ""


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


# -- What a pattern means --------------------------------------------------------------------------

_BRACES = re.compile(r"\{([^{}]*)\}")
MOST_FORMS = 1000  # that the braces of one pattern may stand for


class BadPattern(ValueError):
    """The pattern can match no path, or too much."""


class Pattern(NamedTuple):
    """One pattern without braces, in lower case."""

    components: tuple[str, ...]
    is_anchored: bool
    is_directory: bool  # everything below it is meant

    @classmethod
    def parse(cls, text: str) -> "Pattern":
        lowered = text.casefold()
        components = tuple(lowered.strip("/").split("/"))
        if not {"", ".", ".."}.isdisjoint(components) or not lowered.strip("*?/") or "\0" in text:
            raise BadPattern(text)
        return cls(components, lowered.startswith("/"), lowered.endswith("/"))

    def matches(self, path: tuple[str, ...], at: int) -> bool:
        """Tell whether the pattern matches a path whose component `at` has the first one's form."""
        rest = len(path) - at - len(self.components)
        if rest < 0 or (self.is_anchored and at) or (rest > 0) is not self.is_directory:
            return False
        return self._agrees(path, at)

    def below(self, path: tuple[str, ...], at: int) -> tuple[str, ...] | None:
        """Return the components that are still to come below a directory; None if it does not fit.

        Empty where the directory is what the pattern means, or lies in it.
        """
        if (self.is_anchored and at) or not self._agrees(path, at):
            return None
        come = len(path) - at
        return self.components[come:] if come <= len(self.components) or self.is_directory else None

    def _agrees(self, path: tuple[str, ...], at: int) -> bool:
        pairs = zip(self.components[1:], path[at + 1 :], strict=False)
        return all(wanted == found or has_form(wanted, found) for wanted, found in pairs)


class _Entry(NamedTuple):
    number: int  # of the row
    pattern: Pattern
    row: TrapRow


class Below(NamedTuple):
    """Where a row's files are, seen from a path: the `components` below it.

    Without any it is the path itself. With `is_directory`, all that is below the last one.
    """

    components: tuple[str, ...]
    is_directory: bool
    row: TrapRow


class Table:
    """The rows in force, in an order in which a path is looked up fast."""

    def __init__(self, rows: Iterable[TrapRow]) -> None:
        self._plain: dict[str, list[_Entry]] = {}
        # With a wildcard in the first component: by what is before, else by what is behind it.
        self._by_start: dict[str, list[_Entry]] = {}
        self._by_end: dict[str, list[_Entry]] = {}
        for number, row in enumerate(rows):
            for text in row.patterns.split():
                for one in spread(text):
                    self._add(_Entry(number, Pattern.parse(one), row))
        # Directories come again and again.
        self._begins = lru_cache(maxsize=4096)(self._look_up)

    @classmethod
    def usual(cls) -> "Table":
        """Return the table as it comes."""
        return cls(TABLE)

    def row_of(self, path: bytes) -> TrapRow | None:
        """Return the first row of the table that matches a path; None if none does."""
        components = _components(path)
        found: _Entry | None = None
        for at, component in enumerate(components):
            for entry in self._begins(component):
                if found is None or entry.number < found.number:
                    found = entry if entry.pattern.matches(components, at) else found
        return None if found is None else found.row

    def below(self, path: bytes) -> list[Below]:
        """Return where files of rows are whose patterns begin with the end of a path.

        For directories that nobody walks through: what a pattern means that is wholly below them is
        not among it.
        """
        components = _components(path)
        found: dict[tuple[tuple[str, ...], bool], _Entry] = {}
        for at, component in enumerate(components):
            for entry in self._begins(component):
                rest = entry.pattern.below(components, at)
                if rest is None:
                    continue
                key = (rest, entry.pattern.is_directory)
                if key not in found or entry.number < found[key].number:
                    found[key] = entry
        return [Below(*key, entry.row) for key, entry in found.items()]

    def _add(self, entry: _Entry) -> None:
        first = entry.pattern.components[0]
        start, end = first[:1], first[-1:]
        if not _is_wild(first):
            self._plain.setdefault(first, []).append(entry)
        elif start not in "*?":
            self._by_start.setdefault(start, []).append(entry)
        else:
            self._by_end.setdefault("" if end in "*?" else end, []).append(entry)

    def _look_up(self, component: str) -> tuple[_Entry, ...]:
        wild = (
            *self._by_start.get(component[:1], ()),
            *self._by_end.get(component[-1:], ()),
            *self._by_end.get("", ()),
        )
        fitting = [each for each in wild if has_form(each.pattern.components[0], component)]
        return (*self._plain.get(component, ()), *fitting)


def spread(pattern: str) -> Iterator[str]:
    """Yield what a pattern with braces stands for. Raises BadPattern if that is too much."""
    if "{" not in pattern and "}" not in pattern:
        yield pattern
        return
    waiting = [pattern]
    left = MOST_FORMS
    while waiting:
        text = waiting.pop()
        braces = _BRACES.search(text)
        if braces is None:
            left -= 1
            if left < 0 or "{" in text or "}" in text:
                raise BadPattern(pattern)
            yield text
            continue
        before, after = text[: braces.start()], text[braces.end() :]
        waiting += [before + each + after for each in reversed(braces[1].split(","))]
        if len(waiting) > MOST_FORMS:
            raise BadPattern(pattern)


def _components(path: bytes) -> tuple[str, ...]:
    return tuple(path.decode("utf-8", "surrogateescape").casefold().split("/"))


def _is_wild(wanted: str) -> bool:
    return "*" in wanted or "?" in wanted


def has_form(wanted: str, found: str) -> bool:
    """Tell whether a component, in lower case, has a form: the letters around wildcards first."""
    if not _is_wild(wanted):
        return wanted == found
    star = wanted.find("*")
    if star >= 0 and "?" not in wanted:
        last = wanted.rfind("*")
        if not (found.startswith(wanted[:star]) and found.endswith(wanted[last + 1 :])):
            return False
        if star == last:
            return len(found) >= len(wanted) - 1
    return _form(wanted).fullmatch(found) is not None


@lru_cache(maxsize=1024)
def _form(wanted: str) -> re.Pattern[str]:
    # Several stars in a row would be tried in every division of the letters between them.
    once = re.sub(r"\*+", "*", wanted)
    letters = {"*": ".*", "?": "."}
    return re.compile("".join(letters.get(each) or re.escape(each) for each in once), re.DOTALL)


# -- The part of a file that is run, where only a part is ------------------------------------------

LARGEST = 1 << 20  # bytes; of a larger file, all of it counts


def part_of(content: bytes, part: str) -> bytes:
    """Return the part of the content that counts; b"" if it has none."""
    kind, _, wanted = part.partition(":")
    if not part or len(content) > LARGEST:
        return content
    try:
        match kind:
            case "lines":
                found = re.compile(wanted.encode())
                return b"\n".join(filter(found.search, content.splitlines()))
            case "json":
                return _values(json.loads(content), wanted)
            case "toml":
                import tomllib  # 5 ms

                return _values(tomllib.loads(content.decode()), wanted)
            case _:
                raise AssertionError(part)
    except (ValueError, RecursionError):
        return content


def _values(document: Any, wanted: str) -> bytes:
    """Return the values below the keys, in a form in which their order does not count."""
    if not isinstance(document, dict):
        raise ValueError("not an object")  # noqa: TRY004 - as of what cannot be parsed
    found = {}
    for key in wanted.split(","):
        value: Any = document
        for name in key.split("."):
            value = value.get(name) if isinstance(value, dict) else None
        if value is not None:
            found[key] = value
    return json.dumps(found, sort_keys=True, default=str).encode() if found else b""
