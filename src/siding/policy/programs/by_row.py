"""Judge a program by its row in the table: what its options, operands and subcommands do."""

import re
from typing import TYPE_CHECKING

from siding.policy.effects import secret_variable
from siding.policy.fields import (
    ANYTHING,
    FOUND_BY_NAME,
    MARKS,
    NOTHING,
    NUMBER,
    UNKNOWN,
    PrintedText,
    known,
    shown_words,
)
from siding.policy.hosts import is_elsewhere
from siding.policy.names import names
from siding.policy.paths import Zone
from siding.policy.programs.plain import options, reads_all, runner
from siding.policy.programs.rows import does_projects_work
from siding.policy.row import INPUTS, KINDS, OF_CALLS, OF_PATHS, OF_TEXTS, TAKES_A_VALUE, Row, Words
from siding.policy.rules import BUILT_IN

if TYPE_CHECKING:
    from collections.abc import Callable

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
        _means(examiner, call, words, value or name, spared=spared)
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
    _means(examiner, call, words, value, spared=shows)


def _input(examiner: "Examiner", call: "Call", words: Words) -> None:
    stdin = call.stdin
    if stdin.remote:
        examiner.found("remote-code", call.name)
    for word in words:
        if word in INPUTS and stdin.text:
            _TEXTS[word](examiner, call, stdin.text)
        elif word not in INPUTS and (stdin.text or stdin.remote or stdin.secret):
            examiner.found(word, shown_words(call.words[:6]))


def _means(
    examiner: "Examiner", call: "Call", words: Words, value: str, *, spared: bool = False
) -> None:
    """Judge one value by the words about it.

    With `spared` the call only shows something, or another option takes back what this one says;
    that it runs code holds all the same.
    """
    for word in words:
        if word in OF_PATHS:
            _PATHS[word](examiner, call, value)
        elif word in OF_TEXTS:
            _TEXTS[word](examiner, call, value)
        elif word not in OF_CALLS and not (spared and BUILT_IN[word].group != "code"):
            examiner.found(word, shown_words(call.words[:6]))


# -- what a path is for ------------------------------------------------------------------------


def _writes(examiner: "Examiner", call: "Call", value: str) -> None:
    if value[:1] in ("|", "!"):  # strace and psql write into a program
        _runs(examiner, call, value[1:])
        return
    for each in value.split("|"):  # ffmpeg: `[f=mp4]a.mp4|[f=flv]file:b.flv`
        path = each.rpartition("]")[2].removeprefix("file:")
        if path not in ("-", ""):
            examiner.writes(path, call.state)


def _fetches(examiner: "Examiner", call: "Call", value: str) -> None:
    if value != "-":
        examiner.writes(value, call.state)
        examiner.takes(value, call.state)


def _runs_file(examiner: "Examiner", call: "Call", value: str) -> None:
    if value in ("-", "/dev/stdin") or value.startswith("/dev/fd/") or UNKNOWN in value:
        examiner.found("code-from-input", value)
    elif examiner.is_fetched(value, call.state) or _REMOTE.match(value):
        examiner.found("remote-code", value)
    elif not (
        examiner.is_workspace(value, call.state)
        or examiner.zone(value, call.state) in (Zone.INSIDE, Zone.STEERING)
    ):
        examiner.found("run-outside", value)


def _formats(examiner: "Examiner", call: "Call", value: str) -> None:
    """Judge what mkfs formats: an image in the workspace is a file like any other."""
    inside = examiner.zone(value, call.state) in (Zone.INSIDE, Zone.TEMPORARY)
    if not inside and not re.fullmatch(r"\d+[kKmMgG]?", value):
        examiner.found("format-disk", shown_words(call.words))


_REMOTE = re.compile(r"[a-z][a-z0-9+.-]*://|git::|git@")


def _dumps(examiner: "Examiner", call: "Call", value: str) -> None:
    """Judge a file whose lines are shown: ``date -f FILE`` prints each that is no date."""
    if examiner.zone(value, call.state) not in (Zone.INSIDE, Zone.TEMPORARY):
        examiner.found("read-secret", value)
    examiner.reads(value, call.state)


def _packs(examiner: "Examiner", call: "Call", value: str) -> None:
    examiner.reads(value, call.state)
    if examiner.zone(value, call.state) in (Zone.HOME, Zone.SYSTEM):
        examiner.found("read-secret", value)


_SHOWN = re.compile(
    r"(?i)(?:^|/)[^/.]*$|\.(?:html?|pdf|png|jpe?g|gif|svg|webp|md|txt|csv|json|xml|log)$"
)


def _opens(examiner: "Examiner", call: "Call", value: str) -> None:
    """Judge what the desktop opens: a page, or a document of the workspace."""
    value = value.removeprefix("file://")
    if re.match(r"https?://", value):
        _url(examiner, call, value)
    elif re.match(r"[\w.+-]+:", value) or not (
        examiner.is_workspace(value, call.state) and _SHOWN.search(value)
    ):
        examiner.found("run-outside", value)


def _changes_directory(examiner: "Examiner", call: "Call", value: str) -> None:
    from siding.policy.programs.builtins import change_directory

    change_directory(examiner, call._replace(words=("cd", value)))


_PATHS: "dict[str, Callable[[Examiner, Call, str], None]]" = {
    "reads": lambda examiner, call, value: examiner.reads(value, call.state),
    "reads-below": lambda examiner, call, value: examiner.reads_below(value, call.state),
    "writes": _writes,
    "writes-into": lambda examiner, call, value: examiner.writes_into(value, call.state),
    "deletes": lambda examiner, call, value: examiner.deletes(value, call.state),
    "deletes-below": lambda examiner, call, value: examiner.deletes(
        value, call.state, recursive=True
    ),
    "fetches": _fetches,
    "runs-file": _runs_file,
    "formats": _formats,
    "dumps": _dumps,
    "packs": _packs,
    "opens": _opens,
    "changes-directory": _changes_directory,
}


# -- what a text is for ------------------------------------------------------------------------


def _line(examiner: "Examiner", call: "Call", value: str) -> None:
    examiner.inner_text(call.name, value, call.state)
    if not known(value):
        examiner.found("code-from-input", value)


def _runs(examiner: "Examiner", call: "Call", value: str) -> None:
    examiner.found("option-runs-program", f"{call.name}: {value}")
    if known(value):
        examiner.inner_text(call.name, value, call.state)


def _sql(examiner: "Examiner", call: "Call", value: str) -> None:
    from siding.policy.programs.sql_text import judge_sql

    judge_sql(examiner, call, value)


def _host(examiner: "Examiner", _call: "Call", value: str) -> None:
    if is_elsewhere(value):
        examiner.found("send-data", value)


def _database(examiner: "Examiner", _call: "Call", value: str) -> None:
    """Judge the name or the address of a database."""
    host = re.search(r"\bhost=(\S+)", value)
    if ("://" in value and is_elsewhere(value)) or (host and is_elsewhere(host.group(1))):
        examiner.found("send-data", value)


def _url(examiner: "Examiner", _call: "Call", value: str) -> None:
    if UNKNOWN in value and re.search(r"[?/=&@.]", value[: value.rfind(UNKNOWN) + 1]):
        examiner.found("send-data", value)


def _setting(examiner: "Examiner", call: "Call", value: str) -> None:
    name, _, text = value.partition("=")
    examiner.variable(name, text, call.state, lasting=False)


def _method(examiner: "Examiner", call: "Call", value: str) -> None:
    if value.upper() not in ("GET", "HEAD"):
        examiner.found("change-remote", shown_words(call.words[:6]))


def _mount(examiner: "Examiner", call: "Call", value: str) -> None:
    """Judge a directory that a container is given: it may change everything in it."""
    named = re.search(r"(?:^|,)(?:source|src)=([^,]*)", value)
    source = named.group(1) if named else value.partition(":")[0]
    if known(source) and not re.match(r"[./~]", source):
        return  # the name of a volume
    inside = examiner.is_workspace(source, call.state)
    if not inside and examiner.zone(source, call.state) is not Zone.TEMPORARY:
        examiner.found("leave-container", value)


def _shares(examiner: "Examiner", call: "Call", value: str) -> None:
    if value.partition(":")[0] in ("host", "container", "ns"):
        examiner.found("leave-container", shown_words(call.words[:8]))


def _copied(examiner: "Examiner", call: "Call", value: str) -> None:
    if ":" not in value and value != "-":
        examiner.reads(value, call.state)
        examiner.writes_into(value, call.state)


_FAR_PACKAGE = re.compile(
    r"^(?:git\+|https?://|ssh://|git://|github:|gitlab:|bitbucket:|file:/|npm:"
    r"|[\w-]+ @ )|\.(?:tgz|tar\.gz|whl|zip|gem)$|@https?:"
)


def _package(examiner: "Examiner", call: "Call", value: str) -> None:
    """Judge what a package manager is to install: a package that no registry has is asked about."""
    own = "://" not in value and examiner.is_workspace(value, call.state)
    if _FAR_PACKAGE.search(value) and not own:
        examiner.found("install-elsewhere", value)


def _module(examiner: "Examiner", _call: "Call", value: str) -> None:
    """Judge a package of Go that is run: one with a host in its path is fetched."""
    if "@" in value or "://" in value or re.match(r"[\w.-]+\.[a-z]+/", value):
        examiner.found("install-elsewhere", value)


_SET_ID = re.compile(r"^0?[2467]\d{3}$|(?:^|,)[ugoa]*[+=][rwx]*s|^[ugoa]*\+[rwxX]*s")


def judge_mode(examiner: "Examiner", _call: "Call", value: str) -> None:
    """Judge the mode that a file is given: with a set-id bit, whoever runs it is its owner."""
    if _SET_ID.search(value):
        examiner.found("open-permissions", value)


def _computed(examiner: "Examiner", _call: "Call", value: str) -> None:
    """Judge a name that is looked up: what is put together when it runs can carry data away."""
    if set(value) & set(MARKS) and set(value) - set(MARKS):
        examiner.found("send-data", value)


def _remote(examiner: "Examiner", _call: "Call", value: str) -> None:
    """Judge where git pushes to: a name of a remote, or an address."""
    if "://" in value or re.match(r"[\w.-]+(?:@[\w.-]*)?:", value) or UNKNOWN in value:
        examiner.found("send-data", value)


def _refspec(examiner: "Examiner", call: "Call", value: str) -> None:
    if value.startswith(("+", ":")) or UNKNOWN in value:
        examiner.found("git-rewrites", shown_words(call.words))


def _variable(examiner: "Examiner", _call: "Call", value: str) -> None:
    if secret_variable(value) or UNKNOWN in value:
        examiner.found("print-secret", value)


def _nothing(_examiner: "Examiner", _call: "Call", _value: str) -> None:
    return


_TEXTS: "dict[str, Callable[[Examiner, Call, str], None]]" = {
    "value": _nothing,
    "line": _line,
    "runs": _runs,
    "sql": _sql,
    "host": _host,
    "database": _database,
    "url": _url,
    "setting": _setting,
    "variable": _variable,
    "method": _method,
    "mount": _mount,
    "shares": _shares,
    "copied": _copied,
    "package": _package,
    "module": _module,
    "mode": judge_mode,
    "computed": _computed,
    "remote": _remote,
    "refspec": _refspec,
}


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
        return ANYTHING
    if launch is not None and launch.module:
        words = _of_python(given, words)
        if "/" not in words[0] and known(words[0]) and not examiner.knows(words[0]):
            return runner(examiner, call)  # a script that the project names, or a tool it installed
    if launch is not None and launch.package and not does_projects_work(words[0]):
        examiner.found("install-elsewhere", shown_words(call.words[:6]))
        return ANYTHING
    what = " ".join([call.name, *given.verbs])
    return examiner.inner(what, tuple(words), call)


def _of_python(given: _Given, words: list[str]) -> list[str]:
    """Return the command that ``uv run`` and the like run: a module, a file, or a program."""
    for _, meaning, value in given.options:
        if "module" in meaning:
            return ["python", "-m", value, *words]
    return ["python", *words] if words[0].endswith(".py") else words


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
