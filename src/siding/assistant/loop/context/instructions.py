"""Gather instruction files: in order, each once, with what they import, within bounds."""

import os
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from siding.assistant.loop.context.files import (
    Candidate,
    Found,
    InstructionFile,
    Instructions,
    Omitted,
    ReadFile,
    Why,
)
from siding.ground.namedtuples import NamedTuple

# -- The imports of an instruction file: ``@path`` in its text, as Claude Code has them ------------
#
# Not in code: neither in blocks nor between backticks. Most words that begin with ``@`` are no
# imports but names of people and packages; whether there is such a file tells them apart.


_IMPORT = re.compile(r"(?:^|(?<=\s))@((?:\\ |[^\s\\])+)")
_ENDS_SENTENCE = ".,;:!?)]}'\"*_"


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


DEEPEST = 5  # imports of imports
MOST_IMPORTS = 200  # that are looked at, of all files together


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
