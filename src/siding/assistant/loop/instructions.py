"""Instruction files: where they are looked for, and what they say, with what they import.

They are gathered in order, each once, within bounds, by a port that reads files.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any

from siding.agents.own.places import INSTRUCTIONS, OF_PERSON, PRIVATE
from siding.ground.namedtuples import NamedTuple

MOST_DIRECTORIES = 64  # from the root down to the directory that the agent works in
_IMPORT = re.compile(r"(?:^|(?<=\s))@((?:\\ |[^\s\\])+)")
_ENDS_SENTENCE = ".,;:!?)]}'\"*_"
DEEPEST = 5  # imports of imports
MOST_IMPORTS = 200  # that are looked at, of all files together


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


# -- The imports of an instruction file: ``@path`` in its text, as Claude Code has them ------------
#
# Not in code: neither in blocks nor between backticks. Most words that begin with ``@`` are no
# imports but names of people and packages; whether there is such a file tells them apart.


@lru_cache(maxsize=32)  # the same files are looked at before each prompt
def imports_of(text: str) -> tuple[str, ...]:
    """Return what a text imports, each once, in its order. ``\\ `` is a blank in a name."""
    if _IMPORT.search(text) is None:
        return ()
    names = (
        match.replace("\\ ", " ").partition("#")[0]
        for part in _prose(text)
        for match in _IMPORT.findall(part)
    )
    return tuple(dict.fromkeys(name for name in names if _is_path(name)))


def spellings(name: str) -> Iterator[str]:
    """Yield the name, and the name without what may end the sentence that it is in."""
    yield name
    shorter = name.rstrip(_ENDS_SENTENCE)
    if shorter not in ("", name):
        yield shorter


def resolved(name: str, directory: Path, home: Path) -> Path:
    """Return the path of an import in a file of the directory. The disk is not asked."""
    if name == "~" or name.startswith("~/"):
        return Path(os.path.normpath(home / name[2:]))
    return Path(os.path.normpath(directory / name))


def _is_path(name: str) -> bool:
    return re.match(r"~/.|\.{0,2}/.|[\w.-]", name) is not None


def _prose(text: str) -> Iterator[str]:
    """Yield the parts of a Markdown text that are no code."""
    for token in _parser().parse(text):
        for child in token.children or ():
            if child.type == "text":
                yield child.content


@lru_cache(maxsize=1)
def _parser() -> Any:
    from markdown_it import MarkdownIt

    # Only what code can be in: everything else would cost time and change nothing.
    kinds = ["fence", "code", "list", "blockquote", "html_block", "backticks"]
    return MarkdownIt("zero", {"html": True}).enable(kinds)


# -- Gather instruction files: in order, each once, with what they import, within bounds -----------


class Room(NamedTuple):
    """How many characters there may be: in one file with what it imports, and in all."""

    one: int = 40_000
    all: int = 120_000


ROOM = Room()


def gather(
    candidates: Iterable[Candidate],
    read: ReadFile,
    *,
    home: Path,
    room: Room = ROOM,
    known: Iterable[InstructionFile] = (),
) -> Instructions:
    """Return the instruction files that there are. A file in `known` is not among them again."""
    work = _Gathering(read, home, room, known)
    for candidate in candidates:
        work.take(candidate)
    return Instructions(tuple(work.files), tuple(work.omitted))


class _Gathering:
    def __init__(
        self, read: ReadFile, home: Path, room: Room, known: Iterable[InstructionFile]
    ) -> None:
        self.files: list[InstructionFile] = []
        self.omitted: list[Omitted] = []
        self._read = read
        self._home = home
        self._room = room
        self._left = room.all
        self._left_of_one = room.one
        self._imports = MOST_IMPORTS
        self._seen = {each.real for each in known}
        self._texts = {(each.path.parent, each.text) for each in known}

    def take(self, candidate: Candidate) -> None:
        """Take one file with all that it imports."""
        self._left_of_one = self._room.one
        found = self._read(candidate.path, candidate.roots)
        if isinstance(found, Why):
            self._omit(candidate, found)
        elif found is not None:
            self._add(candidate, found, importers=())

    def _add(self, candidate: Candidate, found: Found, importers: tuple[str, ...]) -> None:
        text = found.text.strip("\n")
        # AGENTS.md and CLAUDE.md of one directory are often the same, as a link or a copy.
        same = (candidate.path.parent, text)
        if found.real in self._seen or same in self._texts or not text.strip():
            return
        room = min(self._left, self._left_of_one)
        if room <= 0:
            self._omit(candidate, Why.NO_ROOM, importers)
            return
        shown = text if len(text) <= room else _cut(text, room)
        self._left -= len(shown)
        self._left_of_one -= len(shown)
        self._seen.add(found.real)
        self._texts.add(same)
        self.files.append(
            InstructionFile(
                name=candidate.name,
                origin=candidate.origin,
                path=candidate.path,
                real=found.real,
                text=shown,
                size=found.size,
                is_cut=shown != text or not found.is_whole,
                importer=importers[-1] if importers else "",
            )
        )
        for name in imports_of(shown):
            self._import(candidate, name, (*importers, candidate.name))

    def _import(self, candidate: Candidate, name: str, importers: tuple[str, ...]) -> None:
        for spelling in spellings(name):
            path = resolved(spelling, candidate.path.parent, self._home)
            imported = candidate._replace(path=path, name=self._shown(candidate, path))
            # A path that names a place outside is not even looked for: the answer would tell
            # whether it is there.
            if candidate.roots and not any(map(path.is_relative_to, candidate.roots)):
                self._omit(imported._replace(name=spelling), Why.OUTSIDE, importers)
                return
            if not self._may_look(imported, importers):
                return
            found = self._read(path, candidate.roots)
            if isinstance(found, Why):
                self._omit(imported, found, importers)
            elif found is not None and found.real not in self._seen:
                if len(importers) > DEEPEST:
                    self._omit(imported, Why.TOO_DEEP, importers)
                else:
                    self._add(imported, found, importers)
            if found is not None:
                return

    def _may_look(self, imported: Candidate, importers: tuple[str, ...]) -> bool:
        """Count an import that is looked at; of those that are too many the first is named."""
        self._imports -= 1
        if self._imports == -1:
            self._omit(imported, Why.TOO_MANY, importers)
        return self._imports >= 0

    def _shown(self, candidate: Candidate, path: Path) -> str:
        """Return the name of a file that another one imports, in the manner of that one's."""
        if not candidate.name.startswith(("/", "~")):
            root = candidate.roots[0]
            return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)
        if not candidate.roots and path.is_relative_to(self._home):
            return f"~/{path.relative_to(self._home)}"
        return str(path)

    def _omit(self, candidate: Candidate, why: Why, importers: tuple[str, ...] = ()) -> None:
        omitted = Omitted(candidate.name, candidate.origin, why, importers[-1] if importers else "")
        if omitted not in self.omitted:
            self.omitted.append(omitted)


def _cut(text: str, room: int) -> str:
    """Return the beginning of a text, to the end of a line if there is one near."""
    beginning = text[:room]
    whole = beginning.rpartition("\n")[0]
    return whole if len(whole) > room // 2 else beginning
