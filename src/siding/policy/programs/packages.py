"""Package managers and build tools: they may run the project's code, but not fetch other code."""

import re
from typing import TYPE_CHECKING

from siding.policy.fields import ANYTHING, PrintedText, known, shown_words
from siding.policy.names import names, ordered
from siding.policy.options import arguments
from siding.policy.programs.plain import dangerous_argument, runner

if TYPE_CHECKING:
    from siding.policy.call import Call
    from siding.policy.examiner import Examiner

_REGISTRY = re.compile(
    r"^--?(?:index-url|extra-index-url|find-links|trusted-host|registry|source|index|default-index"
    r"|git|pre-?index|proxy|userconfig|globalconfig|repository-url)(?:=|$)|^-i$|^-f$"
)
_FAR_PACKAGE = re.compile(
    r"^(?:git\+|https?://|ssh://|git://|github:|gitlab:|bitbucket:|file:/|npm:"
    r"|[\w-]+ @ )|\.(?:tgz|tar\.gz|whl|zip|gem)$|@https?:"
)
_RUNS_PACKAGES = names("dlx exec x create init")
_KNOWN_TOOLS = names(
    """
    tsc eslint prettier jest vitest mocha ts-node tsx webpack vite rollup esbuild playwright
    cypress nx turbo lerna stylelint tailwindcss next nuxt astro svelte-check vue-tsc babel
    biome oxlint storybook karma ava c8 nyc madge depcheck typedoc  husky
    lint-staged commitlint changeset  markdownlint markdownlint-cli2 cspell
    knip tsup  gulp grunt parcel size-limit
     ng expo-doctor react-scripts stylelint html-validate pa11y lighthouse publint
    attw
    """
)


DESTROYS = re.compile(
    r"(?i)(?:^|[-:_.])(?:destroy|delete|del|remove|rm|rb|rmi|purge|drop|wipe|reset|terminate|uninstall"
    r"|prune|down|flush|erase|truncate|kill|unpublish|yank|revoke|disable|drain|clear|unlink)"
    r"(?:$|[-:_.])"
)
_PUBLISHES = names(
    """publish unpublish deprecate dist-tag owner access upload push yank login adduser token star
    team org release profile hook logout"""
)
_INSTALLS = names(
    """install add i download wheel ci update upgrade get sync tool pip fetch link require
    global run
    build inject ensure create test"""
)


_WITH_ENVIRONMENTS = names("""
    uv poetry pipenv pdm rye hatch bundle conda mamba dotenv
""")


def packages(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge package managers: the project's own dependencies and scripts are allowed."""
    words = list(call.arguments)
    plain = [w for w in words if not w.startswith("-")]
    verb = plain[0] if plain else ""
    if set(words) & {"--version", "--help", "-h", "-V", "help"} and len(words) <= 3:
        return ANYTHING
    if verb in _PUBLISHES:
        examiner.found("publish", shown_words(call.words[:6]))
    if verb in ("config", "set") and set(plain[1:2]) & {"set", "delete", "edit", "add"}:
        examiner.found("write-outside", shown_words(call.words[:6]))
    if verb in _RUNS_PACKAGES and call.name in ("npm", "pnpm", "yarn", "bun"):
        _runs_package(examiner, call, plain[1:], words)
        return ANYTHING
    _sources(examiner, call, verb, words)
    runner(examiner, call)
    if verb in ("run", "exec") and call.name in _WITH_ENVIRONMENTS:
        _runs_in_environment(examiner, call, verb, words)
    if call.name in ("pip", "pip3") and verb == "uninstall":
        return ANYTHING
    return ANYTHING


def _sources(examiner: "Examiner", call: "Call", verb: str, words: list[str]) -> None:
    installs = verb in _INSTALLS
    for word in words if installs else ():
        if _REGISTRY.match(word) and not (
            word in ("-i", "-f") and call.name not in ("pip", "pip3")
        ):
            examiner.found("install-elsewhere", word)
        elif _FAR_PACKAGE.search(word) and not word.startswith("-"):
            own = "://" not in word and examiner.is_workspace(word, call.state)
            if not own:
                examiner.found("install-elsewhere", word)
    if verb in ("install", "tool", "i", "add") and {
        "-g",
        "--global",
        "--location=global",
        "--user",
        "--root",
        "--target",
        "--prefix",
    } & {word.partition("=")[0] for word in words}:
        examiner.found("write-outside", shown_words(call.words[:6]))


def _runs_in_environment(examiner: "Examiner", call: "Call", verb: str, words: list[str]) -> None:
    rest = words[words.index(verb) + 1 :]
    given = arguments(
        rest,
        ordered("""
            --with --python -p --extra --group --env-file -n --project --directory --package
            --index -m --module --with-requirements
        """),
        stop_at_operand=True,
    )
    for name in ("--with", "--index", "--with-requirements"):
        for value in given.values(name):
            if name != "--with" or _FAR_PACKAGE.search(value):
                examiner.found("install-elsewhere", f"{name} {value}")
    inner = given.operands
    if given.values("-m", "--module"):
        inner = ("python", "-m", *given.values("-m", "--module"), *inner)
    if inner and inner[0].endswith(".py"):
        inner = ("python", *inner)
    if inner:
        examiner.inner(f"{call.name} {verb}", inner, call)


def _runs_package(examiner: "Examiner", call: "Call", plain: list[str], words: list[str]) -> None:
    line = [w for i, w in enumerate(words) if i and words[i - 1] in ("-c", "--call")]
    for text in line:
        examiner.inner_text(f"{call.name} -c", text, call.state)
    name = plain[0] if plain else ""
    bare = name.rpartition("@")[0] if "@" in name[1:] else name
    installs = {"-y", "--yes", "-p", "--package"} & {w.partition("=")[0] for w in words}
    if (
        name
        and (
            installs
            or bare != name
            or bare not in _KNOWN_TOOLS
            or call.name in ("bunx", "uvx", "pipx")
        )
    ) or (not name and not line):
        examiner.found("install-elsewhere", shown_words(call.words[:6]))
    for word in words:
        dangerous_argument(examiner, call, word)
        if DESTROYS.search(word) or word.startswith("--force"):
            examiner.found("destroy-data", word)


def npx(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge npx, bunx, uvx, pipx: they download and run a package that is not installed."""
    words = list(call.arguments)
    plain = [w for w in words if not w.startswith("-")]
    if set(words) & {"--version", "--help"} and not plain:
        return ANYTHING
    if call.name == "pipx" and plain[:1] in (["list"], ["environment"]):
        return ANYTHING
    if call.name == "npx" and "--no-install" in words:
        runner(examiner, call)
        return ANYTHING
    _runs_package(examiner, call, plain, words)
    return ANYTHING


def project_tool(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge rails, rake, artisan, alembic, prisma …: some verbs drop or reset a database."""
    words = [w for w in call.arguments if not w.startswith("-")]
    for word in words[:3]:
        if re.search(
            r"(?i)(?:^|:)(?:drop|reset|purge|wipe|fresh|rollback|downgrade|destroy"
            r"|truncate"
            r"|flush|db:migrate:down|down|undo|console|dbconsole|runner)(?:$|:)",
            word,
        ):
            examiner.found("destroy-data", word)
    if {"--force-reset", "--accept-data-loss"} & set(call.arguments):
        examiner.found("destroy-data", shown_words(call.words[:6]))
    runner(examiner, call)
    return ANYTHING


def go(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge go."""
    words = [w for w in call.arguments if not w.startswith("-")]
    for index, word in enumerate(call.arguments):
        name, equals, value = word.partition("=")
        if name.lstrip("-") in ("exec", "toolexec", "vettool", "overlay", "modfile", "gccgoflags"):
            value = value if equals else " ".join(call.arguments[index + 1 : index + 2])
            examiner.found("option-runs-program", f"{name}={value}")
            examiner.inner_text(f"go {name}", value, call.state)
    if words[:1] in (["run"], ["install"], ["get"]) and any(
        "@" in word or "://" in word or re.match(r"[\w.-]+\.[a-z]+/", word) for word in words[1:]
    ):
        examiner.found("install-elsewhere", shown_words(call.words[:6]))
    if words[:2] == ["env"] and "-w" in call.arguments:
        examiner.found("write-outside", shown_words(call.words))
    runner(examiner, call)
    return ANYTHING


def cargo(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge cargo."""
    words = [w for w in call.arguments if not w.startswith("-")]
    if words[:1] in (["publish"], ["yank"], ["owner"], ["login"]):
        examiner.found("publish", shown_words(call.words[:6]))
    for index, word in enumerate(call.arguments):
        if word.partition("=")[0] == "--config":
            value = " ".join(call.arguments[index : index + 2])
            examiner.found("option-runs-program", value)
    if words[:1] == ["install"]:
        if {"--git", "--registry", "--index"} & {w.partition("=")[0] for w in call.arguments}:
            examiner.found("install-elsewhere", shown_words(call.words[:6]))
        elif "--path" not in call.arguments:
            examiner.found("write-outside", shown_words(call.words[:6]))
    runner(examiner, call)
    return ANYTHING


def cmake(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge cmake: -P runs a script, -E runs tools like rm and env."""
    words = call.arguments
    if words[:1] == ("-E",):
        verb, rest = (words[1] if len(words) > 1 else ""), words[2:]
        if verb in ("rm", "remove", "remove_directory"):
            return examiner.inner("cmake -E", ("rm", "-rf", *rest), call)
        if verb in ("env", "time", "nice"):
            return examiner.inner("cmake -E", (verb, *rest), call)
        if verb == "chdir":
            return examiner.inner("cmake -E", ("env", "-C", *rest), call)
    for path in arguments(words, ("-P", "-S", "-B", "-D", "-C", "-G")).values("-P"):
        if path.startswith("/dev/") or path == "-" or not known(path):
            examiner.found("code-from-input", path)
        elif examiner.is_fetched(path, call.state):
            examiner.found("remote-code", path)
    return runner(examiner, call)


_PROGRAM_NAMES = names("CC CXX LD AR PYTHON RM INSTALL NODE GO")
_ODD_PROGRAM = re.compile(r"\s\S*(?:/|-c\b)|^(?:ba|z|da)?sh\b|[/;|&$`]")


def make(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge make: a variable given to it may name the program it runs."""
    for word in call.arguments:
        name, equals, value = word.partition("=")
        if word.startswith("--eval") or name in ("SHELL", "MAKEFLAGS", ".SHELLFLAGS"):
            examiner.found("option-runs-program", word)
            examiner.inner_text(f"make {name}", value, call.state)
        elif equals and name in _PROGRAM_NAMES and _ODD_PROGRAM.search(value):
            examiner.found("option-runs-program", word)
    given = arguments(call.arguments, ("-f", "--file", "--makefile", "-C", "-I", "-o", "-W"))
    if set(given.values("-f", "--file", "--makefile")) & {"-", "/dev/stdin"}:
        examiner.found("code-from-input", shown_words(call.words))
    if "install" in call.arguments and not any(
        w.startswith(("DESTDIR=", "PREFIX=")) for w in call.arguments
    ):
        examiner.found("write-outside", "make install")
    runner(examiner, call)
    return ANYTHING


def compiler(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge compilers: plugins and wrappers are programs."""
    for word in call.arguments:
        if re.match(
            r"-(?:wrapper|fplugin|specs|B|load|Xclang|fuse-ld=/|agentpath|agentlib"
            r"|javaagent)",
            word,
        ) and not re.match(r"-B(?:static|dynamic|$)", word):
            examiner.found("option-runs-program", word)
    runner(examiner, call)
    return ANYTHING


def tests(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge pytest: plugins and configuration files are code."""
    given = arguments(
        call.arguments,
        ordered("""
            -p -c --rootdir -o --override-ini --confcutdir -k -m -n --maxfail -W --basetemp
        """),
    )
    for name in ("-p", "-o", "--override-ini"):
        for value in given.values(name):
            plugin = name == "-p" and (value.startswith("no:") or value in ("xdist", "pytest_cov"))
            setting = name == "-o" and re.match(r"log_|addopts=$|cache_dir=", value)
            if not plugin and not setting:
                examiner.found("option-runs-program", f"{name} {value}")
    runner(examiner, call)
    return ANYTHING


_LOOKS = names("status log show diff verify help completion version --version --help -h")
_GROUPS = names("task worktree session policy decide workflow")
_LOOKS_IN_GROUP = names("list show status check test events search usage result --help -h")


def siding(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge Siding's own commands: those that only show are allowed, others ask."""
    words = list(call.arguments)
    while words[:1] and (
        words[0] in ("-q", "-v", "-C", "--quiet", "--verbose") or words[0].startswith("--color=")
    ):
        words = words[2:] if words[0] == "-C" else words[1:]
    if not words or words[0] in _LOOKS or (words[0] == "doctor" and "--check" in words):
        return ANYTHING
    if words[0] in _GROUPS and (len(words) == 1 or words[1] in _LOOKS_IN_GROUP):
        return ANYTHING
    if words[0] == "run" and "--" in words:
        at = words.index("--")
        if any(word.startswith("--allow") for word in words[:at]):
            examiner.found("siding-itself", shown_words(call.words[:6]))
        return examiner.inner("siding run", tuple(words[at + 1 :]), call)
    examiner.found("siding-itself", shown_words(call.words[:6]))
    return ANYTHING


JUDGES = {
    **dict.fromkeys(
        names(
            """
            npm pnpm yarn pip pip3 poetry uv pipenv pdm rye hatch flit conda mamba gem
            bundle composer nuget dotnet mix pub opam cabal twine vsce ovsx jsr bower cpan
            cpanm luarocks shards nimble
            """
        ),
        packages,
    ),
    **dict.fromkeys(("npx", "bunx", "pnpx", "uvx", "pipx"), npx),
    **dict.fromkeys(
        names(
            """rails rake artisan alembic prisma flyway liquibase knex sequelize typeorm drizzle-kit
             dbmate sqitch django-admin flask manage.py"""
        ),
        project_tool,
    ),
    **dict.fromkeys(("make", "gmake"), make),
    **dict.fromkeys(
        names("""gcc g++ cc c++ clang clang++ java javac kotlinc ld"""),
        compiler,
    ),
    **dict.fromkeys(("pytest", "py.test"), tests),
    "go": go,
    "cargo": cargo,
    "cmake": cmake,
    "siding": siding,
}
