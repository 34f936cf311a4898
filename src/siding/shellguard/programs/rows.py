"""The table of programs: find the row of a program by its name.

The files in `table` are read once, and only the rows that are asked for are parsed: a run needs
one or two of them. They are written in a part of YAML that takes twenty lines to read, because
importing a whole reader of YAML takes longer than judging a hundred commands. A test reads every
file with both readers.
"""

import os
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from siding.shellguard.row import Row, RowMistake, row_from

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
