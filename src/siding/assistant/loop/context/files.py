"""Instruction files as values, and the port that reads them."""

import os
from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path

from siding.agents.own.places import INSTRUCTIONS, OF_PERSON, PRIVATE
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


# -- Where instruction files may be: the machine's, the person's, the repository's -----------------


MOST_DIRECTORIES = 64  # from the root down to the directory that the agent works in


class Places(NamedTuple):
    """The directories that instruction files are looked for in. All are absolute, without links.

    `root` is the repository's, or the workspace if there is none; `directory` is where the agent
    works, in it. `config` is the person's directory of settings. `main` is the repository's main
    worktree if `root` is another one: what git ignores is only there.
    """

    root: Path
    directory: Path
    home: Path
    config: Path
    machine: Path
    extra: tuple[Path, ...] = ()
    main: Path | None = None

    @property
    def roots(self) -> tuple[Path, ...]:
        """The directories that the repository's files must not lead out of."""
        return (self.root, *self.extra)


def at_start(places: Places) -> list[Candidate]:
    """Return where to look before the conversation, the most general first."""
    found = [
        Candidate(places.machine, str(places.machine), Origin.MACHINE),
        _of_person(places, places.config / "siding" / "AGENTS.md"),
        _of_person(places, places.home / OF_PERSON),
    ]
    for directory in _down_to(places.root, places.directory):
        found += in_directory(places, directory)
    if places.main is not None and places.main != places.root:
        path = places.main / PRIVATE
        found.append(Candidate(path, str(path), Origin.REPOSITORY, (places.main,)))
    return found


def in_directory(places: Places, directory: Path) -> Iterator[Candidate]:
    """Yield where to look in a directory of the repository."""
    for name in INSTRUCTIONS:
        path = directory / name
        shown = str(path.relative_to(places.root))
        yield Candidate(path, shown, Origin.REPOSITORY, places.roots)


def directories_above(places: Places, path: Path) -> list[Path]:
    """Return the directories that hold a file, from below the root down; [] if it is elsewhere.

    `path` is absolute and normal. The disk is not asked.
    """
    if not path.is_relative_to(places.root) or path == places.root:
        return []
    return _down_to(places.root, path.parent)[1:]


def _of_person(places: Places, path: Path) -> Candidate:
    shown = f"~/{path.relative_to(places.home)}" if path.is_relative_to(places.home) else str(path)
    return Candidate(path, shown, Origin.PERSON)


def _down_to(root: Path, directory: Path) -> list[Path]:
    """Return the directories from the root down: of a very long way the root and the last ones."""
    if not directory.is_relative_to(root):
        return [root]
    parts = directory.relative_to(root).parts
    found = [root]
    for part in parts:
        found.append(Path(os.path.join(found[-1], part)))
    return [root, *found[1:][-(MOST_DIRECTORIES - 1) :]]
