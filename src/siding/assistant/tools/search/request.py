"""What is searched for, and what was found."""

from enum import StrEnum
from pathlib import Path

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
