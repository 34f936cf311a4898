"""Judge a program by its row in the table: what its options, operands and subcommands do."""

import re
from typing import TYPE_CHECKING

from siding.policy.fields import (
    ANYTHING,
    FOUND_BY_NAME,
    NOTHING,
    NUMBER,
    UNKNOWN,
    PrintedText,
    known,
    shown_words,
)
from siding.policy.names import names
from siding.policy.programs.meanings import means, read_as
from siding.policy.programs.plain import options, reads_all, runner
from siding.policy.programs.rows import does_projects_work
from siding.policy.row import INPUTS, KINDS, TAKES_A_VALUE, Row, Words

if TYPE_CHECKING:
    from siding.policy.call import Call
    from siding.policy.examiner import Examiner

_HELP = names("--help --version")
_HELP_ALONE = names("-h -V -v -? -version -help version help")
_PRINTS = {
    "nothing": NOTHING,
    "number": PrintedText(text=NUMBER + "\n"),
    "processes": PrintedText(text=FOUND_BY_NAME + "\n"),
    "endless": PrintedText(endless=True),
    "fetched": PrintedText(remote=True),
    "secrets": PrintedText(secret=True),
}


class _Given:
    """The arguments of one call, split by the row of the program."""

    def __init__(self, row: Row) -> None:
        self.rows = [row]  # of the program, its subcommand, the subcommand of that …
        self.spelled = dict(row.options)
        self.options: list[tuple[str, Words, str]] = []
        self.verbs: list[str] = []
        self.operands: list[str] = []
        self.command: tuple[str, ...] | None = None
        # A program with ``-long`` options has no flags joined in one word.
        self.joined = not any(len(name) > 2 and name[1] != "-" for name in row.options)

    @property
    def row(self) -> Row:
        return self.rows[-1]

    def meaning(self, name: str) -> Words | None:
        """Return the words of an option; None when no row names it."""
        found = self.spelled.get(name)
        if found is None and len(name) > 4 and name.startswith("--"):
            longer = (words for each, words in self.spelled.items() if each.startswith(name))
            found = next(longer, None)  # `--verb` is `--verbose`
        return found

    def has(self, word: str) -> bool:
        return any(word in words for _, words, _ in self.options)


def _split(row: Row, words: tuple[str, ...]) -> _Given:
    given = _Given(row)
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word == "--":
            if given.row.launch is not None:
                given.command = words[at:]
            else:
                given.operands += words[at:]
            break
        if word[:1] == "-" and word != "-":
            at += _option(given, word, words[at : at + 1])
            if "command" in given.options[-1][1]:
                given.command, at = words[at:], len(words)
            continue
        if _ASSIGNS.match(word) and _assigned(given, word):
            continue
        deeper = None if given.operands else given.row.command(word)
        if deeper is None and not given.operands:
            deeper = given.row.other
        if deeper is not None:
            given.rows.append(deeper)
            given.spelled |= deeper.options
            given.verbs.append(word)
            if deeper.launch is not None and deeper.launch.operands == 0:
                given.command, at = words[at:], len(words)
                _own_options(given)
            continue
        launch = given.row.launch
        if launch is not None and len(given.operands) == launch.operands:
            given.command = words[at - 1 :]
            break
        given.operands.append(word)
    return given


def _assigned(given: _Given, word: str) -> bool:
    """Enter an operand ``NAME=value`` if a row says what such a one does."""
    name, _, value = word.partition("=")
    words = given.spelled.get(f"{name}=", given.row.places.get("(assigned)"))
    if words is None:
        return False
    given.options.append((f"{name}=", words, value))
    return True


def _own_options(given: _Given) -> None:
    """Take the options of a subcommand that runs a command off the beginning of that command."""
    words = given.command or ()
    at = 0
    while at < len(words) and words[at][:1] == "-" and words[at] != "-":
        at += 1
        if words[at - 1] == "--":
            break
        at += _option(given, words[at - 1], words[at : at + 1])
    given.command = words[at:]


def _option(given: _Given, word: str, rest: tuple[str, ...]) -> int:
    """Enter the options in one word; return how many of the next words are their values."""
    name, equals, value = word.partition("=")
    words = given.meaning(name)
    if equals and (words is not None or word.startswith("--")):
        given.options.append((name, words or (), value))
        return 0
    words = given.meaning(word)
    if words is not None or word.startswith("--") or not given.joined:
        takes = words is not None and bool(TAKES_A_VALUE.intersection(words))
        given.options.append((word, words or (), (rest[0] if rest else "") if takes else ""))
        return 1 if takes else 0
    for position in range(1, len(word)):
        name = "-" + word[position]
        words = given.spelled.get(name, ())
        if TAKES_A_VALUE.intersection(words):
            value = word[position + 1 :]
            given.options.append((name, words, value or (rest[0] if rest else "")))
            return 0 if value else 1
        given.options.append((name, words, ""))
    return 0


def judge_row(examiner: "Examiner", call: "Call", row: Row) -> PrintedText:
    """Judge one call by the row of its program; return what the program prints."""
    if row.has_commands or (row.launch is not None and not row.launch.here):
        call = call._replace(state=call.state.copy())
    given = _split(row, call.arguments)
    shows = _only_shows(given, call)
    looks = shows or "looks" in given.row.always
    for name, before, value in given.options:
        if UNKNOWN in name:
            examiner.found("dynamic-command", name)
        words = given.meaning(name) or before  # a later subcommand may say more of it
        spared = shows or (looks if "spares" in words else given.has("spares"))
        means(examiner, call, words, value or name, spared=spared)
    _arguments(examiner, call, given)
    _places(examiner, call, given, shows=shows)
    if not looks:
        _always(examiner, call, given)
    if (given.row.launch is not None or given.command) and not shows:
        return _launched(examiner, call, given)
    return _printed(examiner, call, given)


def _only_shows(given: _Given, call: "Call") -> bool:
    if given.has("looks"):
        return True
    if _bare(given) and "looks" in given.row.places.get("(alone)", ()):
        return True
    words = call.arguments
    if len(words) == 1 and words[0] in _HELP_ALONE and given.meaning(words[0]) is None:
        return True
    return any(name in _HELP and given.meaning(name) is None for name, _, _ in given.options)


def _bare(given: _Given) -> bool:
    return not given.operands and not given.command


def _always(examiner: "Examiner", call: "Call", given: _Given) -> None:
    if not given.has("spares"):
        for row in given.rows:
            _rules(examiner, call, row.always)
    if _bare(given) and "(alone)" in given.row.places:
        _rules(examiner, call, given.row.places["(alone)"])
    top = given.rows[0]
    if top.anywhere is not None:
        _anywhere(examiner, call, given, top.anywhere)


_LOOKED_AT = 5  # words of a call in which `(anywhere)` looks for what it does


def _anywhere(examiner: "Examiner", call: "Call", given: _Given, row: Row) -> None:
    """Judge a program whose verb may be any of its first words: ``gcloud compute … list``."""
    words = [w for w in (*given.verbs, *given.operands) if "/" not in w][:_LOOKED_AT]
    found = [each for word in words if (each := row.command(word)) is not None]
    acts = [each for each in found if "looks" not in each.always]
    for each in acts[:1]:
        _rules(examiner, call, each.always)
    if not found and not _bare(given) and row.other is not None:
        _rules(examiner, call, row.other.always)


def _rules(examiner: "Examiner", call: "Call", words: Words) -> None:
    for word in words:
        if word not in KINDS and word != "looks":
            examiner.found(word, shown_words(call.words[:6]))


def _arguments(examiner: "Examiner", call: "Call", given: _Given) -> None:
    kinds = [word for row in given.rows for word in row.always if word in KINDS]
    if "text" in kinds[-1:] or given.row.launch is not None or given.command:
        return
    if "project" in kinds:
        runner(examiner, call, given.spelled)
    else:
        options(examiner, call, given.spelled, quotes="quotes" in kinds)
        reads_all(examiner, call)


def _places(examiner: "Examiner", call: "Call", given: _Given, *, shows: bool) -> None:
    places = given.row.places
    operands = list(given.operands)
    if "(input)" in places and not shows:
        _input(examiner, call, places["(input)"])
    for name in ("(first)", "(second)"):
        if name in places and operands:
            _operand(examiner, call, places[name], operands.pop(0), shows=shows)
    if "(last)" in places and operands:
        _operand(examiner, call, places["(last)"], operands.pop(), shows=shows)
    words = (*places.get("(operands)", ()), *(("writes",) if given.has("in-place") else ()))
    for operand in operands if words else ():
        _operand(examiner, call, words, operand, shows=shows)


_CHANGING = ("writes", "deletes", "remote", "refspec")


def _operand(examiner: "Examiner", call: "Call", words: Words, value: str, *, shows: bool) -> None:
    if shows:  # `gzip -l x` changes no file
        words = tuple(word for word in words if not word.startswith(_CHANGING))
    means(examiner, call, words, value, spared=shows)


def _input(examiner: "Examiner", call: "Call", words: Words) -> None:
    stdin = call.stdin
    if stdin.remote:
        examiner.found("remote-code", call.name)
    for word in words:
        if word in INPUTS and stdin.text:
            read_as(examiner, call, word, stdin.text)
        elif word not in INPUTS and (stdin.text or stdin.remote or stdin.secret):
            examiner.found(word, shown_words(call.words[:6]))


# -- commands in commands ----------------------------------------------------------------------


def _launched(examiner: "Examiner", call: "Call", given: _Given) -> PrintedText:
    """Judge the command that a launcher runs."""
    launch = given.row.launch
    words = list(given.command or ())
    state = call.state
    while words and launch is not None and launch.assignments and _ASSIGNS.match(words[0]):
        name, _, value = words.pop(0).partition("=")
        examiner.variable(name, value, state, lasting=False)
        state.variables[name] = value
    if words[:1] == ["--"]:
        words.pop(0)
    if words[:1] == ["-c"] and len(words) > 1:
        examiner.inner_text(f"{call.name} -c", words[1], state)
        return ANYTHING
    if launch is not None and launch.shell and len(words) == 1:
        examiner.inner_text(call.name, words[0], state)
        return ANYTHING
    module = launch is not None and launch.module and given.has("module")
    if not words and not module:
        return _printed(examiner, call, given)
    if launch is not None and launch.unread:
        return _in_container(examiner, call, given, words)
    if launch is not None and launch.module:
        words = _of_python(given, words)
        if "://" in words[0]:
            examiner.found("remote-code", words[0])
            return ANYTHING
        if "/" not in words[0] and known(words[0]) and not examiner.knows(words[0]):
            return runner(examiner, call)  # a script that the project names, or a tool it installed
    if launch is not None and launch.package and not does_projects_work(words[0]):
        examiner.found("install-elsewhere", shown_words(call.words[:6]))
        return ANYTHING
    what = " ".join([call.name, *given.verbs])
    return examiner.inner(what, tuple(words), call)


def _in_container(
    examiner: "Examiner", call: "Call", given: _Given, words: list[str]
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
    if there != words and examiner.knows(words[0]):
        examiner.inner(" ".join([call.name, *given.verbs]), tuple(there), call)
    return ANYTHING


def _of_python(given: _Given, words: list[str]) -> list[str]:
    """Return the command that ``uv run`` and the like run: a module, a file, or a program."""
    for _, meaning, value in given.options:
        if "module" in meaning:
            return ["python", "-m", value, *words]
    own = words[0].endswith(".py") and "://" not in words[0]
    return ["python", *words] if own else words


_ASSIGNS = re.compile(r"[^/=-][^/=]*=")


def _printed(examiner: "Examiner", call: "Call", given: _Given) -> PrintedText:
    how = given.row.places.get("(prints)", ())
    if "input" in how and not given.operands:
        return call.stdin
    if "input" in how:
        how = ()
    if how:
        return _PRINTS[how[0]]
    fetched = any(examiner.is_fetched(word, call.state) for word in call.arguments)
    return PrintedText(remote=call.stdin.remote or fetched, secret=call.stdin.secret)
