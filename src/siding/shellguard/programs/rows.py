"""The rows of programs: what each option, operand and subcommand does, and the table of them."""

import os
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from siding.ground.namedtuples import NamedTuple
from siding.shellguard.names import names
from siding.shellguard.rules import BUILT_IN

Words = tuple[str, ...]

# What happens to the file or directory that a value names.
OF_PATHS = names("""
    reads reads-below writes writes-into stores receives moves links rights owner deletes
    deletes-below fetches runs-file formats dumps packs opens changes-directory beside
""")
# What a value is, if it is no path.
OF_TEXTS = names("""
    value target line runs program code sql host far database url saves sends reroutes method
    credential header setting variable pattern mount shares copied package module mode process
    computed remote refspec shared-branch template handed library size limit handles attributes
    replaced machine filter variables carries flake task stage container exports graphql models
""")
TAKES_A_VALUE = OF_PATHS | OF_TEXTS
# What an option says about the whole call: it only shows something; what stands under `(always)`
# and beside other options does not hold; the operands are files that it changes; it stands in
# place of the first operand; the target loses what the sources do not have; what is read ends;
# what comes next is a command; links are followed.
OF_CALLS = names("looks spares in-place as-first mirrors bounds unbounded command follows")
# How the arguments are read that no other entry of the row is about.
KINDS = names("text files project quotes")
# What the first words of a call may be: letters of options without a dash.
SHAPES = names("letters")
PRINTS = names("""
    nothing number processes endless fetched secrets input part below entries operands setup
""")
INPUTS = names("sql line kept variables")

# The functions that judge programs by code, where a row cannot say what they do; by their modules,
# so that a run imports only those it needs: all take 10 ms.
_FUNCTIONS = {
    "shells": "shell source evaluate trap",
    "builtins": """
        names_variables working_directory change_directory print_text read_variables declare
        settings unset let alias
    """,
    "code": "python interpreter",
    "editors": "awk sed editor pager calculator",
    "search": "fd find",
    "wrappers": "parallel multiplexer xargs",
    "git": "git",
    "system": "kill ps path_name temporary_file",
    "network": "httpie socat",
}

MODULE_OF: Mapping[str, str] = {
    function: module for module, listed in _FUNCTIONS.items() for function in listed.split()
}

_RULES = frozenset(BUILT_IN)
_OPTION = TAKES_A_VALUE | OF_CALLS | _RULES
_ALLOWED: Mapping[str, frozenset[str]] = {
    "(always)": KINDS | SHAPES | _RULES | {"looks"},
    "(operands)": TAKES_A_VALUE | _RULES,
    "(first)": TAKES_A_VALUE | _RULES,
    "(second)": TAKES_A_VALUE | _RULES,
    "(last)": TAKES_A_VALUE | _RULES,
    "(target)": TAKES_A_VALUE | _RULES,
    "(itself)": _OPTION,
    "(assigned)": TAKES_A_VALUE | _RULES,
    "(alone)": _RULES | {"looks"},
    "(input)": INPUTS | _RULES,
    "(prints)": PRINTS,
}
_OF_ROWS = ("(other)", "(anywhere)")
KEYS = frozenset({*_ALLOWED, *_OF_ROWS, "(command)", "(like)", "(code)"})
_LAUNCHES = names("assignments shell here unread package module line inside script")
_DEEPEST = 6  # subcommands of subcommands


class RowMistake(ValueError):
    """A row is not well formed; `where` are the keys that lead to the mistake."""

    def __init__(self, where: Words, why: str) -> None:
        super().__init__(f"{' > '.join(where)}: {why}" if where else why)
        self.where = where
        self.why = why


class Launch(NamedTuple):
    """That the last arguments of a program are a command, which it runs."""

    operands: int  # how many operands of its own come before the command
    assignments: bool = False  # NAME=value may come before the command
    shell: bool = False  # a command of one word is a line for a shell
    here: bool = False  # it runs in this shell, and may change its state
    unread: bool = False  # it is not judged: all that it can reach is in the container
    package: bool = False  # it is a package, fetched if it is not there
    module: bool = False  # a file of Python is a command too
    line: bool = False  # its words together are a line for a shell, on whatever machine
    inside: bool = False  # it runs in a container: what it changes there is a question at most
    script: bool = False  # it is a script of the project, or a tool that it installed


class Row:
    """What one program, or one of its subcommands, does."""

    __slots__ = (
        "always",
        "anywhere",
        "code",
        "commands",
        "joined",
        "launch",
        "modes",
        "options",
        "other",
        "patterns",
        "places",
        "starts",
        "variables",
    )

    def __init__(self, always: Words = ()) -> None:
        self.always = always
        self.joined = True  # no: with ``-long`` options no flags are joined in one word
        self.options: dict[str, Words] = {}
        self.modes: dict[str, Row] = {}  # options with a row of their own
        self.patterns: list[tuple[str, Words]] = []  # ``-B*``, ``-p=no:*``: starts, and values
        self.places: dict[str, Words] = {}  # "(first)" -> words, and the like
        self.commands: dict[str, Row] = {}
        self.starts: list[tuple[str, Row]] = []  # names with ``*`` or ``~`` in them
        self.variables: dict[str, Words] = {}  # of the environment, that the program reads
        self.anywhere: Row | None = None
        self.code: Words = ()  # a function, and under which name it judges the program
        self.other: Row | None = None
        self.launch: Launch | None = None

    def command(self, word: str) -> "Row | None":
        """Return the row of the subcommand `word`; None when the row does not name it."""
        found = self.commands.get(word)
        if found is not None:
            return found
        return next((row for name, row in self.starts if _matches(name, word)), None)

    @property
    def has_commands(self) -> bool:
        return bool(self.commands or self.starts or self.other)


def _matches(name: str, word: str) -> bool:
    """Return whether a subcommand matches: ``get-*`` by its start, ``~rm`` by one of its parts,
    ``~rm*`` by the start of one.
    """
    if name[0] == "~":
        if name[-1] == "*":
            return any(part.startswith(name[1:-1]) for part in _parts(word))
        return name[1:] in _parts(word)
    return word.startswith(name[:-1])


def _parts(word: str) -> list[str]:
    return re.split(r"[-:_.,]", word.lower())


def row_from(value: object, where: Words = ()) -> Row:
    """Return the row in a value of YAML: a text, or a mapping of keys to texts and mappings.

    Raises RowMistake when it is not one.
    """
    if len(where) > _DEEPEST:
        raise RowMistake(where, "rows are nested too deeply")
    if isinstance(value, str) or value is None:
        return Row(_words(value or "", _ALLOWED["(always)"], where))
    if not isinstance(value, Mapping):
        raise RowMistake(where, "should be words, or a mapping of options and subcommands")
    row = Row()
    for key, entry in value.items():
        _enter(row, str(key), entry, (*where, str(key)))
    return row


def _enter(row: Row, key: str, entry: object, where: Words) -> None:
    if key in _ALLOWED:
        words = _words(entry, _ALLOWED[key], where)
        if key == "(always)":
            row.always = words
        else:
            row.places[key] = words
    elif key == "(code)":
        row.code = tuple(str(entry).split())
        if not row.code or row.code[0] not in MODULE_OF:
            raise RowMistake(where, f"there is no such code; there is {', '.join(MODULE_OF)}")
    elif key == "(command)":
        row.launch = _launch(entry, where)
    elif key in _OF_ROWS:
        inner = row_from(entry, where)
        if key == "(other)":
            row.other = inner
        else:
            row.anywhere = inner
    elif key[:1] == "(":
        known = ", ".join(sorted(KEYS))
        raise RowMistake(where, f"not a key of a row; there are {known}")
    elif key[:1] in ("-", "$") or key[-1:] == "=":
        _options(row, key, entry, where)
    else:
        _commands(row, key, row_from(entry, where), where)


def _options(row: Row, key: str, entry: object, where: Words) -> None:
    if key[0] == "$":
        words = _words(entry, TAKES_A_VALUE | _RULES | {"spares"}, where)
        row.variables.update((name.removeprefix("$"), words) for name in key.split())
        return
    mode = row_from(entry, where) if isinstance(entry, Mapping) and entry else None
    words = mode.places.pop("(itself)", ()) if mode else _words(entry, _OPTION, where)
    for name in key.split():
        if name[:1] != "-" and name[-1] != "=":
            raise RowMistake(where, f"{name!r} stands among options and is none")
        if name[0] == "-" and ("=" in name or name[-1] == "*"):
            row.patterns.append((name, words))
            continue
        row.options[name] = words
        row.joined = row.joined and not (len(name) > 2 and name[0] == "-" != name[1])
        if mode is not None:
            row.modes[name] = mode
    for name, said in mode.options.items() if mode else ():
        if TAKES_A_VALUE.intersection(said):  # wherever it stands: `tar -C DIR -x`
            row.options.setdefault(name, ("value",))


def _commands(row: Row, key: str, inner: Row, where: Words) -> None:
    if not key.split():
        raise RowMistake(where, "a key without a name")
    for name in key.split():
        if name[0] == "~" or name[-1] == "*":
            row.starts.append((name, inner))
        elif "*" in name:
            raise RowMistake(where, f"{name!r}: a `*` stands at the end of a name only")
        else:
            row.commands[name] = inner


def _words(entry: object, allowed: frozenset[str], where: Words) -> Words:
    if entry is None or entry == {}:
        return ()
    if not isinstance(entry, str):
        raise RowMistake(where, "should be words, as text")
    words = tuple(entry.split())
    for word in words:
        if word not in allowed:
            raise RowMistake(where, f"{word!r} means nothing here; {_nearest(word, allowed)}")
    return words


def _nearest(word: str, allowed: frozenset[str]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(word, allowed, n=3)
    short = sorted(allowed - _RULES)
    if close:
        return f"did you mean {', '.join(close)}?"
    return f"there are {', '.join(short)}" + (
        " and the names of rules" if "publish" in allowed else ""
    )


def _launch(entry: object, where: Words) -> Launch:
    words = str(entry).split()
    if not words or not words[0].isdigit() or int(words[0]) > 9 or set(words[1:]) - _LAUNCHES:
        raise RowMistake(
            where,
            "should be the number of operands before the command, then what holds of "
            f"{', '.join(Launch._fields[1:])}",
        )
    return Launch(int(words[0]), *(word in words for word in Launch._fields[1:]))


# -- The table of programs: find the row of a program by its name ----------------------------------
#
# The files in `table` are read once, and only the rows that are asked for are parsed: a run needs
# one or two of them. They are written in a part of YAML that takes twenty lines to read, because
# importing a whole reader of YAML takes longer than judging a hundred commands. A test reads every
# file with both readers.


_MOST_LIKE = 4  # rows that build on one another
TABLE = os.path.join(os.path.dirname(__file__), "table")
_HEADS = re.compile(r"\n(?=[^#\s])")  # where the next row begins
_NO_NAME = frozenset(" \t\n#'\"")


@cache
def _files() -> tuple[str, ...]:
    """Return the text of each file of the table, with a newline before its first line."""
    texts = []
    for name in sorted(os.listdir(TABLE)):
        if name.endswith(".yaml"):
            with open(os.path.join(TABLE, name), encoding="utf-8") as file:
                texts.append("\n" + file.read())
    return tuple(texts)


@cache
def _row_text(name: str) -> str:
    """Return the lines of a program's row; "" when it has none.

    The name is searched for in the text: to list all names first takes ten times as long.
    """
    for text in _files() if name and not set(name) & _NO_NAME else ():
        at = text.find(name)
        while at >= 0:
            start = text.rindex("\n", 0, at) + 1
            if text[start] not in " #" and name in _head(text[start : text.index("\n", at)]):
                end = _HEADS.search(text, at)
                return text[start : end.start() if end else len(text)]
            at = text.find(name, at + len(name))
    return ""


def _head(line: str) -> list[str]:
    """Return the names in the first line of a row."""
    head = line.partition(": ")[0] if ": " in line else line.rstrip()[:-1]
    return _unquoted(head).split()


def has_row(name: str) -> bool:
    """Return whether the table has a row for a program of this name."""
    return bool(_row_text(name))


@cache
def row_of(name: str) -> Row | None:
    """Return the row of a program; None when the table has none."""
    value = _written(name)
    return None if value is None else row_from(value, (name,))


def does_projects_work(name: str) -> bool:
    """Return whether a program is known to do the project's work: a test, a build, a server."""
    row = row_of(name)
    return row is not None and "project" in row.always


def _written(name: str, depth: int = 0) -> object | None:
    """Return the row of a program as it is written, with the row that it builds on."""
    text = _row_text(name)
    if not text:
        return None
    (value,) = read_rows(text.split("\n")).values()
    return whole(value, (name,), depth)


def whole(value: object, where: tuple[str, ...], depth: int = 0) -> object:
    """Return a row together with the entries of the row that it names under ``(like)``.

    Raises RowMistake when there is no such row.
    """
    if not isinstance(value, Mapping):
        return value
    value = {key: whole(each, (*where, str(key)), depth) for key, each in value.items()}
    if "(like)" not in value:
        return value
    like = str(value["(like)"])
    base = _written(like, depth + 1) if depth < _MOST_LIKE else None
    if base is None:
        raise RowMistake((*where, "(like)"), f"there is no row {like!r} in the table")
    base = dict(base) if isinstance(base, Mapping) else {"(always)": base}
    if "(code)" in base:  # code asks for the name of the program
        base["(code)"] = f"{str(base['(code)']).split()[0]} {like}"
    return {**base, **{key: entry for key, entry in value.items() if key != "(like)"}}


def read_rows(lines: list[str]) -> dict[str, Any]:
    """Return the mapping that lines of ``key: text`` and deeper, indented ones make."""
    top: dict[str, Any] = {}
    open_mappings = [top]
    for line in lines:
        stripped = line.partition(" #")[0].strip()
        if not stripped or stripped[0] == "#":
            continue
        level = (len(line) - len(line.lstrip())) // 2
        key, _, text = stripped.partition(": ") if ": " in stripped else (stripped[:-1], "", "")
        del open_mappings[level + 1 :]
        inner: dict[str, Any] = {}
        open_mappings[level][_unquoted(key)] = text.strip() if text else inner
        open_mappings.append(inner)
    return top


def _unquoted(key: str) -> str:
    return key[1:-1] if key[:1] in ("'", '"') else key
