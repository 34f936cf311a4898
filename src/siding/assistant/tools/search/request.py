"""What is searched for, and what was found."""

import json
import os
import stat
from difflib import get_close_matches
from enum import StrEnum
from functools import lru_cache
from pathlib import Path

from siding.assistant.tools.files.paths import PathRefused, Paths
from siding.assistant.tools.files.texts import is_binary
from siding.assistant.tools.place import Place
from siding.ground.namedtuples import NamedTuple


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


_LOOKED_AT = 8192


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
