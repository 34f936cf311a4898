"""Judge a program by its row in the table: what its options, operands and subcommands do."""

import re
import shlex
from typing import TYPE_CHECKING

from siding.shellguard.fields import ANYTHING, UNKNOWN, PrintedText, known, shown_words
from siding.shellguard.hosts import is_far
from siding.shellguard.names import names
from siding.shellguard.paths import Zone
from siding.shellguard.programs.arguments import reached
from siding.shellguard.programs.given import ASSIGNS, Given, split
from siding.shellguard.programs.network import judge_requests
from siding.shellguard.programs.path_meanings import means, read_as
from siding.shellguard.programs.plain import options, reads_all, runner
from siding.shellguard.programs.printed import printed, reads_without_end
from siding.shellguard.programs.purposes import spares_production
from siding.shellguard.programs.rows import INPUTS, KINDS, SHAPES, Launch, Row, Words, row_of

if TYPE_CHECKING:
    from siding.shellguard.examiner import Examiner
    from siding.shellguard.state import Call


# -- Judge the target of a call: the file or directory that the other operands come to -------------


def judge_target(
    examiner: "Examiner", call: "Call", given: "Given", operands: list[str]
) -> list[str]:
    """Judge the target of a call; return the other operands.

    The target is the value of an option for it, or the last of several operands.
    """
    words = given.places.get("(operands)", ())
    targets = given.values("target")
    sources = list(operands)
    if not targets and len(sources) > 1:
        targets = [sources.pop()]
    if "links" in words:
        targets = targets or [_name(source) or "." for source in sources]
    for target in targets:
        if "moves" in words and examiner.zone(target, call.state) is Zone.HARMLESS:
            examiner.found("delete-unknown", target)
        means(examiner, call, given.places["(target)"], target)
        if "receives" in given.places["(target)"]:
            _receives(examiner, call, sources, target)
        emptied = given.has("mirrors") and not is_far(target)
        if emptied and not examiner.is_workspace(target, call.state):
            examiner.deletes(target, call.state, recursive=True)
        elif emptied and examiner.is_root(target, call.state):
            examiner.found("delete-all", target)
    if "links" in words:
        _links(examiner, call, sources, targets)
    return sources


def _receives(examiner: "Examiner", call: "Call", sources: list[str], target: str) -> None:
    """Judge the files that a target gets, if it is a directory."""
    if target.endswith("/") or examiner.is_workspace(target, call.state):
        for source in sources:
            if _name(source) not in ("", ".", ".."):
                examiner.writes(f"{target.rstrip('/')}/{_name(source)}", call.state)
    if any(examiner.is_fetched(source, call.state) for source in sources):
        examiner.takes(target, call.state)


def _links(examiner: "Examiner", call: "Call", sources: list[str], targets: list[str]) -> None:
    """Judge where links lead; a later path through one that leads outside lies outside too."""
    for source in sources:
        directory = targets[0].rpartition("/")[0] if known(targets[0]) else ""
        path = source if source.startswith("/") or not directory else f"{directory}/{source}"
        zone = examiner.zone(path, call.state)
        near = zone in (Zone.INSIDE, Zone.TEMPORARY, Zone.STEERING, Zone.HARMLESS)
        if not near and not examiner.is_workspace(path, call.state):
            if not examiner.is_beside(path, call.state):
                examiner.found("link-outside", path)
            examiner.links_made(targets[0], source, call.state)


def _name(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]


# -- Judge a program by its row in the table: what its options, operands and subcommands do --------


_HELP_ALONE = names("-h -V -v -? -version -help version help")


def judge_row(examiner: "Examiner", call: "Call", row: Row) -> PrintedText:
    """Judge one call by the row of its program; return what the program prints."""
    if row.has_commands or (row.launch is not None and not row.launch.here):
        call = call._replace(state=call.state.copy())
    given = split(row, call.arguments)
    if call.stdin.remote:
        _unpacks(examiner, call, given)
    shows = _only_shows(given, call)
    looks = shows or "looks" in given.row.always
    if not shows:
        _variables(examiner, call, given)
    _options(examiner, call, given, shows=shows, looks=looks)
    if not shows:
        judge_requests(examiner, call, given)
    _arguments(examiner, call, given)
    _places(examiner, call, given, shows=shows)
    if not looks:
        _always(examiner, call, given)
        _fills_disk(examiner, call, given)
    if (given.launch is not None or given.command) and not shows:
        return _launched(examiner, call, given)
    return printed(examiner, call, given)


def _unpacks(examiner: "Examiner", call: "Call", given: Given) -> None:
    """Remember where what is fetched may be unpacked: ``curl URL | tar -xz -C DIR``."""
    for directory in given.values("writes-into") or (".",):
        if not examiner.is_workspace(directory, call.state):
            examiner.takes(directory, call.state)


def _options(examiner: "Examiner", call: "Call", given: Given, *, shows: bool, looks: bool) -> None:
    for name, before, value in given.options:
        if UNKNOWN in name and _may_act(given):
            examiner.found("dynamic-command", name)
        words, rest = given.in_full(name, before, value)
        spared = shows or (looks if "spares" in words else given.has("spares"))
        means(examiner, call, words, rest or name, spared=spared)


def _variables(examiner: "Examiner", call: "Call", given: Given) -> None:
    """Judge the variables that the program reads: ``PGHOST=db.example.org psql``."""
    for row in given.rows:
        for key, words in row.variables.items():
            name, _, wanted = key.partition("=")
            value = call.env.get(name, call.state.variables.get(name, ""))
            builds = "project" in row.always and spares_production(call.arguments, value)
            if value and wanted in ("", value) and (not builds or "spares" in words):
                given.words.update(words)
                means(examiner, call, words, value)


# What an option that is known only when it runs may as well say: what is read then is not known.
_HARMLESS = names("value looks as-first bounds reads reads-below pattern")


def _may_act(given: Given) -> bool:
    """Return whether one of the options that rows name does more than read."""
    if any("project" in row.always for row in given.rows):
        return True
    modes = given.modes.values()
    about = [words for mode in modes for key, words in mode.places.items() if key != "(prints)"]
    return any(not _HARMLESS.issuperset(words) for words in (*given.spelled.values(), *about))


def _only_shows(given: Given, call: "Call") -> bool:
    if given.has("looks"):
        return True
    if _bare(given) and "looks" in given.places.get("(alone)", ()):
        return True
    words = call.arguments
    if len(words) == 1 and words[0] in _HELP_ALONE and given.meaning(words[0]) is None:
        return True
    return given.helps


def _bare(given: Given) -> bool:
    return not given.operands and not given.command


def _always(examiner: "Examiner", call: "Call", given: Given) -> None:
    spares = given.has("spares")
    for row in given.rows if not spares else ():
        _rules(examiner, call, row.always)
    if _bare(given) and "(alone)" in given.places and not spares:
        _rules(examiner, call, given.places["(alone)"])
    top = given.rows[0]
    if top.anywhere is not None and not spares:
        _anywhere(examiner, call, given, top.anywhere)


_LOOKED_AT = 5  # words of a call in which `(anywhere)` looks for what it does


def _anywhere(examiner: "Examiner", call: "Call", given: Given, row: Row) -> None:
    """Judge a program whose verb may be any of its first words: ``gcloud compute … list``."""
    words = [w for w in (*given.verbs, *given.operands) if "/" not in w][:_LOOKED_AT]
    found = [each for word in words if (each := row.command(word)) is not None]
    acts = [each for each in found if "looks" not in each.always]
    for each in acts[:1]:
        _rules(examiner, call, each.always)
    if not found and not _bare(given) and row.other is not None:
        _rules(examiner, call, row.other.always)


_NO_RULES = KINDS | SHAPES | {"looks"}


def _rules(examiner: "Examiner", call: "Call", words: Words) -> None:
    for word in words:
        if word not in _NO_RULES:
            examiner.found(word, shown_words(call.words[:6]))


def _arguments(examiner: "Examiner", call: "Call", given: Given) -> None:
    kinds = [word for row in given.rows for word in row.always if word in KINDS]
    idle = given.launch is not None and given.launch.script  # `yarn` alone installs
    if "text" in kinds[-1:] or given.command or (given.launch is not None and not idle):
        return
    if "project" in kinds:
        runner(examiner, call, given.spelled, quotes="quotes" in kinds)
    else:
        options(examiner, call, given.spelled, quotes="quotes" in kinds)
        reads_all(examiner, call)


def _places(examiner: "Examiner", call: "Call", given: Given, *, shows: bool) -> None:
    places = given.places
    operands = list(given.operands)
    if "(input)" in places and not shows:
        _input(examiner, call, places["(input)"])
    if "(first)" in places and operands and not given.has("as-first"):
        _operand(examiner, call, places["(first)"], operands.pop(0), shows=shows)
    if "(second)" in places and operands:
        _operand(examiner, call, places["(second)"], operands.pop(0), shows=shows)
    if "(last)" in places and operands:
        _operand(examiner, call, places["(last)"], operands.pop(), shows=shows)
    words = ("writes",) if given.has("in-place") else places.get("(operands)", ())
    if "(target)" in places and not given.has("in-place") and not shows:
        operands = judge_target(examiner, call, given, operands)
    if "reads-below" in words and "(target)" not in places and not operands:
        operands = ["."]
    if given.has("follows"):  # a link below an operand is judged as if it were given too
        operands += (
            link for each in operands or ["."] for link in examiner.links_below(each, call.state)
        )
    for operand in operands if words else ():
        _operand(examiner, call, words, operand, shows=shows)


_CHANGING = ("writes", "stores", "moves", "deletes", "remote", "refspec", "process", "task")


def _operand(examiner: "Examiner", call: "Call", words: Words, value: str, *, shows: bool) -> None:
    if shows:  # `gzip -l x` changes no file
        words = tuple(word for word in words if not word.startswith(_CHANGING))
    means(examiner, call, words, value, spared=shows)


def _input(examiner: "Examiner", call: "Call", words: Words) -> None:
    stdin = call.stdin
    if words == ("kept",):  # in files
        if stdin.endless:
            examiner.found("fill-disk", shown_words(call.words[:6]))
        return
    if stdin.remote:
        examiner.found("remote-code", call.name)
    for word in words:
        if word in INPUTS and stdin.text:
            read_as(examiner, call, word, stdin.text)
        elif word not in INPUTS and (stdin.text or stdin.remote or stdin.secret):
            examiner.found(word, shown_words(call.words[:6]))


# -- commands in commands ----------------------------------------------------------------------


def _launched(examiner: "Examiner", call: "Call", given: Given) -> PrintedText:
    """Judge the command that a launcher runs."""
    launch = given.launch
    words = list(given.command or ())
    state = call.state
    while words and launch is not None and launch.assignments and ASSIGNS.match(words[0]):
        name, _, value = words.pop(0).partition("=")
        examiner.variable(name, value, state, lasting=False)
        state.variables[name] = value
    if words[:1] == ["--"]:
        words.pop(0)
    if words[:1] == ["-c"] and len(words) > 1:
        examiner.inner_text(f"{call.name} -c", words[1], state)
        return ANYTHING
    if launch is not None and (launch.line or (launch.shell and len(words) == 1)):
        line = " ".join(words)
        if known(line) or launch.shell:
            examiner.inner_text(call.name, line, state)
        return printed(examiner, call, given)
    module = launch is not None and launch.module and given.has("module")
    if not words and not module:
        return printed(examiner, call, given)
    if launch is not None and launch.unread:
        return _in_container(examiner, call, given, words)
    if launch is not None and launch.module:
        words = _of_python(given, words)
        if "://" in words[0]:
            examiner.found("remote-code", words[0])
            return ANYTHING
    if launch is not None and _is_script(examiner, launch, words):
        read_as(examiner, call, "task", words[0])
        return runner(examiner, call, given.spelled)
    if launch is not None and launch.package and _is_fetched(examiner, call, words):
        return runner(examiner, call)
    what = " ".join([call.name, *given.verbs])
    with examiner.in_container(now=launch is not None and launch.inside):
        return examiner.inner(what, tuple(words), call)


_SCRIPT_NAMES = names("start stop watch migrate open reset sync copy make clear export import")


def _is_script(examiner: "Examiner", launch: Launch, words: list[str]) -> bool:
    """Return whether a name is that of a script of the project, or of a tool that it installed.

    With ``yarn NAME`` the name of a program alone may as well be a script's.
    """
    name = words[0]
    if launch.script:
        row = row_of(name)
        acts = len(words) > 1 or (row is not None and "publish" in row.always)
        return row is None or not acts or name in _SCRIPT_NAMES
    return launch.module and "/" not in name and known(name) and not examiner.knows(name)


def _is_fetched(examiner: "Examiner", call: "Call", words: list[str]) -> bool:
    """Judge a package that is fetched to be run; return whether no more is known of it.

    `words` are the package and its arguments; the version is taken off its name. A tool of the
    project with a version is not the one that the project has installed.
    """
    name = re.sub(r"(?<=.)@[\w.^~-]+$", "", words[0])
    makes = name in _SCAFFOLDS or bool(re.fullmatch(r"create-[\w.-]+", name))
    known_tool = examiner.knows(name) and (makes or name == words[0])
    if not makes and not known_tool:
        examiner.found("install-elsewhere", shown_words(call.words[:6]))
    words[0] = name
    return not known_tool


_SCAFFOLDS = names("shadcn shadcn-ui nuxi expo")  # they make files, and are never installed


# Images that start a program of their name, whose arguments are what follows.
_ENTRY_POINTS = names("""
    aws az gcloud kubectl helm terraform opentofu flyway liquibase migrate dbmate crane skopeo
""")


def _in_container(
    examiner: "Examiner", call: "Call", given: Given, words: list[str]
) -> PrintedText:
    """Judge what a container does to the workspace, if it is given it and a path in it is named."""
    there = list(words)
    for _, meaning, value in given.options:
        source, colon, target = value.partition(":")
        target = target.partition(":")[0].rstrip("/")
        if "mount" in meaning and colon and target:
            inside = [f"{word}/".startswith(f"{target}/") for word in there]
            there = [
                source + word[len(target) :] if is_inside else word
                for word, is_inside in zip(there, inside, strict=True)
            ]
    if any(re.search(r"(?:^|[\s'\"=<])/(?:var/)?run/secrets\b", word) for word in words):
        examiner.found("print-secret", shown_words(words))
    program = given.operands[-1].rpartition("/")[2].partition(":")[0].removesuffix("-cli")
    starts = [value for name, _, value in given.options if name == "--entrypoint"]
    starts += [program] if program in _ENTRY_POINTS else []
    commands = (words, *([start, *words] for start in starts))
    for line in map(shlex.join, commands):
        if known(line):
            reached(examiner, line, call.state)
    if there != words and examiner.knows(words[0]):
        examiner.inner(" ".join([call.name, *given.verbs]), tuple(there), call)
    return ANYTHING


def _of_python(given: Given, words: list[str]) -> list[str]:
    """Return the command that ``uv run`` and the like run: a module, a file, or a program."""
    for _, meaning, value in given.options:
        if "module" in meaning:
            return ["python", "-m", value, *words]
    own = words[0].endswith(".py") and "://" not in words[0]
    return ["python", *words] if own else words


def _fills_disk(examiner: "Examiner", call: "Call", given: Given) -> None:
    """Judge what is written without end: ``dd if=/dev/zero of=FILE``."""
    if not reads_without_end(given):
        return
    targets = [*given.values("writes"), *given.values("stores"), *given.values("target")]
    if "(target)" in given.places:
        targets += given.operands[-1:]
    if "writes" in given.places.get("(second)", ()):
        targets += given.operands[1:2] or ["."]
    for target in targets:
        if examiner.zone(target, call.state) is not Zone.HARMLESS:
            examiner.found("fill-disk", target)
