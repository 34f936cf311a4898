"""The index of a transcript: what can be known of it without reading it again.

It holds where the compactions and the metadata that counts are, and what is damaged; never a
message. It is a cache: made from the file, brought up to date by reading only what was added, and
thrown away when it does not fit the file. Losing it loses time.
"""

import os
from pathlib import Path
from typing import Any, NamedTuple

from siding.errors import SidingError
from siding.sessions.heads import Head, look, parsed
from siding.sessions.locate import read_at
from siding.sessions.metadata import REPEATED, Metadata
from siding.sessions.transcript import Damage
from siding.storage.codec import NotJson
from siding.storage.documents import read_document_or_none, write_document
from siding.storage.files import make_dirs, open_with_stat
from siding.storage.journals import TOO_LONG, TORN
from siding.storage.lines import lines_forwards

VERSION = 1
MOST_DAMAGE = 1000
_MARK_BYTES = 64
# Of these every entry counts; of those in REPEATED (and ai-title) only a session's last.
_EVERY = ("summary", "content-replacement")
_LAST = (*REPEATED, "ai-title", "task-summary", "cost-state", "goal-cleared")


class Place(NamedTuple):
    """Where a metadata entry is, and whose it is."""

    type: str
    session: str
    offset: int
    size: int


class Index(NamedTuple):
    """What is known of the first `covered` bytes; `mark` is how they end."""

    covered: int = 0
    mark: str = ""
    lines: int = 0
    messages: int = 0
    boundaries: tuple[int, ...] = ()
    metadata: tuple[Place, ...] = ()
    damage: tuple[Damage, ...] = ()


def read_index(path: Path) -> Index:
    """Return the stored index; an empty one when there is none that can be used."""
    try:
        document = read_document_or_none(path, what="session index", version=VERSION)
        return Index() if document is None else _index_in(document)
    except (SidingError, OSError, TypeError, ValueError, KeyError):
        return Index()


def write_index(path: Path, index: Index) -> None:
    """Store the index. Raises OSError; whoever only reads goes on without it."""
    if not path.parent.is_dir():
        make_dirs(path.parent)
    write_document(path, {"version": VERSION, **index._asdict()})


def updated(transcript: Path, index: Index) -> Index:
    """Return the index of the whole file, reading only what `index` does not cover."""
    fd, status = open_with_stat(transcript)
    try:
        if not _fits(fd, status.st_size, index):
            index = Index()
        return _extended(fd, status.st_size, index)
    finally:
        os.close(fd)


def metadata_before(transcript: Path, index: Index, stop: int) -> Metadata:
    """Return the metadata in the first `stop` bytes."""
    metadata = Metadata()
    fd, _ = open_with_stat(transcript)
    try:
        for place in sorted(index.metadata, key=lambda each: each.offset):
            if place.offset >= stop:
                break
            try:
                metadata.add(parsed(read_at(fd, place.offset, place.size)))
            except NotJson:
                continue
    finally:
        os.close(fd)
    return metadata


def _fits(fd: int, size: int, index: Index) -> bool:
    return index.covered <= size and _mark(fd, index.covered) == index.mark


def _mark(fd: int, covered: int) -> str:
    start = max(covered - _MARK_BYTES, 0)
    return read_at(fd, start, covered - start).hex()


def _extended(fd: int, size: int, index: Index) -> Index:
    covered, lines, messages = index.covered, index.lines, index.messages
    boundaries = list(index.boundaries)
    damage = list(index.damage)
    last = {(each.type, each.session): each for each in index.metadata if each.type not in _EVERY}
    every = [each for each in index.metadata if each.type in _EVERY]
    for line in lines_forwards(fd, covered):
        if line.end > size or not line.is_closed:
            break
        lines += 1
        covered = line.end
        problem = TOO_LONG if line.is_too_long else None
        if problem is None:
            try:
                seen = look(line.raw, line.offset)
            except NotJson as error:
                problem = TORN if error.is_cut_off else str(error)
        if problem is not None:
            if len(damage) < MOST_DAMAGE:
                damage.append(Damage(lines, line.offset, line.end, problem))
            continue
        if isinstance(seen, Head):
            messages += 1
            continue
        messages += seen.head is not None
        if seen.boundary:
            boundaries.append(line.offset)
        elif seen.type in _EVERY or seen.type in _LAST:
            record = parsed(line.raw)
            session = str(record.get("sessionId") or "")
            place = Place(seen.type, session, line.offset, len(line.raw))
            if seen.type in _EVERY:
                every.append(place)
            else:
                last[seen.type, session] = place
    return Index(
        covered=covered,
        mark=_mark(fd, covered),
        lines=lines,
        messages=messages,
        boundaries=tuple(boundaries),
        metadata=tuple(sorted([*last.values(), *every], key=lambda each: each.offset)),
        damage=tuple(damage),
    )


def _index_in(document: dict[str, Any]) -> Index:
    return Index(
        covered=int(document["covered"]),
        mark=str(document["mark"]),
        lines=int(document["lines"]),
        messages=int(document["messages"]),
        boundaries=tuple(int(each) for each in document["boundaries"]),
        metadata=tuple(
            Place(str(kind), str(session), int(offset), int(size))
            for kind, session, offset, size in document["metadata"]
        ),
        damage=tuple(
            Damage(number, int(offset), int(end), str(problem))
            for number, offset, end, problem in document["damage"]
        ),
    )
