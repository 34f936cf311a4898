"""A search: what is asked for, where it may be made, what was found, what the model reads of it.

The details for programs are as Claude Code has them.
"""

import json
import os
import stat
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any

from siding.assistant.tools.files.paths import PathRefused, Paths
from siding.assistant.tools.files.texts import is_binary
from siding.assistant.tools.place import Place
from siding.assistant.tools.port import Result
from siding.ground.namedtuples import NamedTuple

_LOOKED_AT = 8192
_LONGEST = 500  # characters of a line


class Mode(StrEnum):
    """What a search tells."""

    CONTENT = "content"  # the lines
    FILES = "files_with_matches"
    COUNT = "count"  # how many lines in each file
    LIST = "list"  # the files themselves: nothing is searched for


class Request(NamedTuple):
    """A search in a directory, or in one file of it.

    `names` are patterns for the last names of files that are looked at; () is all files. With
    `ignores`, what git ignores is left out. Numbers are of lines.
    """

    directory: Path  # resolved
    mode: Mode
    pattern: str = ""  # a regular expression
    file: str = ""  # the name of the one file, in the directory
    names: tuple[str, ...] = ()
    ignores: bool = True
    any_case: bool = False
    multiline: bool = False
    before: int = 0
    after: int = 0


class Line(NamedTuple):
    """A line that matches, or one beside it."""

    number: int
    text: str
    matches: bool


class Hit(NamedTuple):
    """A file with what was found in it; `total` is 0 in modes that do not count."""

    path: str  # from the directory
    lines: tuple[Line, ...] = ()
    total: int = 0


class Found(NamedTuple):
    """What a search has found, in no order. `notes` are sentences about what is missing."""

    hits: list[Hit]
    notes: tuple[str, ...] = ()


class SearchFailed(Exception):
    """The search could not be made; the text tells the model why and what to do."""


# -- Where a search may be made --------------------------------------------------------------------
#
# A rule or the policy judges the one path that a call names, and a search reads all below it. So
# directories are searched only where the agent works; other files are searched one by one.


class Where(NamedTuple):
    """A directory to be searched, or one file in it. `ignores`: ignored files are left out."""

    directory: Path
    file: str = ""
    ignores: bool = True


def where(place: Place, paths: Paths, given: str) -> Where:
    """Return where a call is to search. Raises PathRefused, and OSError if nothing is there."""
    real = paths.as_judged(given)
    mode = os.stat(real).st_mode
    if stat.S_ISREG(mode):
        with real.open("rb") as file:
            if is_binary(file.read(_LOOKED_AT)):
                raise PathRefused(f"{given} is a binary file; it was not searched.")
        return Where(real.parent, real.name)
    if not stat.S_ISDIR(mode):
        raise PathRefused(f"{given} is neither a file nor a directory.")
    if real.is_relative_to(place.results):
        return Where(real, ignores=False)
    if not any(real.is_relative_to(root) for root in place.roots):
        roots = ", ".join(map(str, place.roots))
        raise PathRefused(
            f"{given} is not searched: directories are searched only below {roots}. Search single "
            "files, or use rg or find in Bash."
        )
    return Where(real)


# -- Kinds of files by their names: ``py``, ``rust``, ``js``. The table is ripgrep's (15.2) --------


def names_of(kind: str) -> tuple[str, ...]:
    """Return the patterns of the names that files of a kind have. Raises SearchFailed."""
    table = _table()
    if kind not in table:
        like = get_close_matches(kind, table, n=4)
        told = f"like it are {', '.join(like)}" if like else "use `glob`, such as *.ext"
        raise SearchFailed(f"There is no type {kind!r}; {told}.")
    return table[kind]


@lru_cache(maxsize=1)
def _table() -> dict[str, tuple[str, ...]]:
    rows = json.loads(Path(__file__).with_name("types.json").read_text("utf-8"))
    return {name: tuple(globs) for name, globs in rows.items()}


# -- What the model reads of it --------------------------------------------------------------------


class Page(NamedTuple):
    """Which of the entries are shown. `most` 0 is all."""

    offset: int = 0
    most: int = 0

    def of(self, entries: Sequence[str]) -> list[str]:
        """Return the entries of this page."""
        end = self.offset + self.most if self.most else len(entries)
        return list(entries[self.offset : end])

    def rest(self, entries: Sequence[str]) -> str:
        """Return what to tell of the entries that are not shown; "" if there are none."""
        if not self.most or self.offset + self.most >= len(entries):
            return ""
        last = self.offset + self.most
        return (
            f"({self.offset + 1} to {last} of {len(entries):,}. To go on, search with offset "
            f"{last}.)"
        )


def newest_first(directory: Path, paths: Iterable[str]) -> list[str]:
    """Return paths from a directory by when they were changed; those that are gone are last."""

    def changed(path: str) -> tuple[int, str]:
        try:
            return -os.lstat(directory / path).st_mtime_ns, path
        except OSError:
            return 0, path

    return sorted(paths, key=changed)


def content_lines(hits: Sequence[Hit], names: dict[str, str], *, numbered: bool) -> list[str]:
    """Return the lines as ripgrep prints them: ``path:12:text``, ``path-13-text``, ``--``.

    `names` has for each path how it is shown.
    """
    shown: list[str] = []
    has_context = any(not line.matches for hit in hits for line in hit.lines)
    for hit in sorted(hits, key=lambda each: each.path):
        last = 0
        for line in hit.lines:
            if has_context and shown and line.number != last + 1:
                shown.append("--")
            mark = ":" if line.matches else "-"
            number = f"{line.number}{mark}" if numbered else ""
            shown.append(f"{names[hit.path]}{mark}{number}{_cut(line.text)}")
            last = line.number
    return shown


def result_of(
    mode: Mode, entries: Sequence[str], page: Page, hits: Sequence[Hit], notes: Sequence[str]
) -> Result:
    """Return the result of a search that has found something."""
    shown = page.of(entries)
    files = len(hits)
    matches = sum(each.total for each in hits)
    head = {
        Mode.FILES: f"{_number(files, 'file')}, the newest first:",
        Mode.COUNT: f"{_number(matches, 'line')} in {_number(files, 'file')}:",
    }.get(mode, "")
    if not shown:
        shown = [f"(There is nothing from offset {page.offset} on.)"]
    text = "\n".join(each for each in (head, *shown, page.rest(entries), *notes) if each)
    details: dict[str, Any] = {"mode": mode.value, "numFiles": files, "filenames": []}
    match mode:
        case Mode.FILES:
            details["filenames"] = page.of(entries)
        case Mode.COUNT:
            details |= {"content": "\n".join(shown), "numMatches": matches}
        case _:
            details |= {"content": "\n".join(shown), "numLines": len(shown)}
    if page.rest(entries):
        details["appliedLimit"] = page.most
    if page.offset:
        details["appliedOffset"] = page.offset
    lines = sum(line.matches for hit in hits for line in hit.lines)
    told = f"{_number(lines, 'line')} in {_number(files, 'file')}" if lines else head.rstrip(":")
    return Result(text, shown=told.partition(",")[0], details=details)


def _cut(text: str) -> str:
    line = text.removesuffix("\r")
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}… (a long line)"


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
