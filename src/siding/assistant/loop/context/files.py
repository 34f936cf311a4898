"""Instruction files as values, and the port that reads them."""

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path

from siding.ground.namedtuples import NamedTuple


class Origin(StrEnum):
    """Who wrote an instruction file, as the model is told."""

    MACHINE = "whoever administers this machine"
    PERSON = "the person"
    REPOSITORY = "the repository"


class Candidate(NamedTuple):
    """A path where an instruction file may be.

    `roots` are the directories that the file, and what it imports, must not lead out of; () leaves
    it free. `name` is the path as the model is told.
    """

    path: Path
    name: str
    origin: Origin
    roots: tuple[Path, ...] = ()


class Found(NamedTuple):
    """A text file. `real` is its path without links, `size` its bytes.

    `text` may be only the beginning of the file; `is_whole` tells.
    """

    real: Path
    text: str
    size: int
    is_whole: bool = True


class Why(StrEnum):
    """Why a file that is there, or was imported, is not shown."""

    OUTSIDE = "it leads out of the workspace"
    NO_FILE = "it is no regular file"
    NO_TEXT = "it is not UTF-8 text"
    DENIED = "it cannot be read"
    NO_ROOM = "the files before it take all the room that there is for instructions"
    TOO_MANY = "no more imports are looked at: there are too many"
    TOO_DEEP = "imports are followed five deep at most"


ReadFile = Callable[[Path, tuple[Path, ...]], Found | Why | None]
"""Reads the file at a path unless it leads out of the directories; None if nothing is there."""


class InstructionFile(NamedTuple):
    """An instruction file as the model sees it.

    `importer` is the name of the file that imports it, "" for none. `size` are the file's bytes;
    `is_cut` tells that `text` is not all of it.
    """

    name: str
    origin: Origin
    path: Path
    real: Path
    text: str
    size: int
    is_cut: bool = False
    importer: str = ""


class Omitted(NamedTuple):
    """A file that is not shown, and the reason."""

    name: str
    origin: Origin
    why: Why
    importer: str = ""


class Instructions(NamedTuple):
    """The instruction files, in the order in which the model sees them."""

    files: tuple[InstructionFile, ...] = ()
    omitted: tuple[Omitted, ...] = ()
