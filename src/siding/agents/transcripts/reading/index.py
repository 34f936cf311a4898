"""The index of a transcript: where its metadata entries are, so that they need not be searched for.

It holds places of metadata, which may be anywhere in the file, and no messages. It is a cache: it
is extended by reading only what was added, and made again when it does not fit the file. Making it
takes two to three seconds for 4 GB.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from siding.agents.transcripts.heads import MessageHead, look, parsed
from siding.agents.transcripts.metadata import REPEATED, Metadata
from siding.agents.transcripts.reading.locate import lines_from, read_at
from siding.ground.errors import SidingError
from siding.ground.files.durable import make_dirs
from siding.ground.files.regular import open_with_stat
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.codec import NotJson
from siding.ground.storage.documents import read_document_or_none, write_document
from siding.ground.storage.lines import lines_forwards

VERSION = 2
_MARK_BYTES = 64
_MESSAGE = b'{"parentUuid":'  # how the lines of messages begin, ours and Claude Code's
# Every entry of these types counts; of the types in _LAST only the last entry of each session.
_EVERY = ("summary", "content-replacement")
_LAST = (*REPEATED, "ai-title", "task-summary", "cost-state", "goal-cleared")


class MetadataPlace(NamedTuple):
    """Where a metadata entry is (bytes, without the newline), its type and its session's id."""

    type: str
    session: str
    offset: int
    size: int


class Index(NamedTuple):
    """The metadata in the first `covered` bytes; `mark` is the last 64 of them, in hex.

    A file that does not have `mark` there is another file, or was rewritten.
    """

    covered: int = 0
    mark: str = ""
    metadata: tuple[MetadataPlace, ...] = ()


def read_index(path: Path) -> Index:
    """Return the stored index, or an empty one when there is none or it cannot be read."""
    try:
        document = read_document_or_none(path, what="session index", version=VERSION)
        return Index() if document is None else _index_in(document)
    except (SidingError, OSError, TypeError, ValueError, KeyError):
        return Index()


def write_index(path: Path, index: Index) -> None:
    """Store the index. Raises OSError, which readers should ignore: it is only a cache."""
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
    last = {(each.type, each.session): each for each in index.metadata if each.type not in _EVERY}
    every = [each for each in index.metadata if each.type in _EVERY]
    covered = index.covered
    for offset, raw in _lines(fd, covered, size):
        covered = offset + len(raw) + 1
        # Nine lines of ten are messages. Comparing their first bytes is far cheaper than decoding.
        place = None if raw.startswith(_MESSAGE) else _place(raw, offset)
        if place is None:
            continue
        if place.type in _EVERY:
            every.append(place)
        else:
            last[place.type, place.session] = place
    return Index(
        covered=covered,
        mark=_mark(fd, covered),
        metadata=tuple(sorted([*last.values(), *every], key=lambda each: each.offset)),
    )


def _lines(fd: int, start: int, size: int) -> Iterator[tuple[int, bytes]]:
    """Yield offset and bytes of each line that ends with a newline before `size`.

    A line that is too long to be read is skipped.
    """
    while start < size:
        for offset, lines in lines_from(fd, start, size):
            start = offset
            for raw in lines:
                yield start, raw
                start += len(raw) + 1
        rest = next(lines_forwards(fd, start), None)
        if rest is None or rest.end > size or not rest.is_closed:
            return
        start = rest.end


def _place(raw: bytes, offset: int) -> MetadataPlace | None:
    """Return the place of a metadata entry; None for any other line and for a damaged one."""
    if not raw or raw.isspace():
        return None
    try:
        seen = look(raw, offset)
    except NotJson:
        return None
    if isinstance(seen, MessageHead) or (seen.type not in _EVERY and seen.type not in _LAST):
        return None
    session = str(parsed(raw).get("sessionId") or "")
    return MetadataPlace(type=seen.type, session=session, offset=offset, size=len(raw))


def _index_in(document: dict[str, Any]) -> Index:
    return Index(
        covered=int(document["covered"]),
        mark=str(document["mark"]),
        metadata=tuple(
            MetadataPlace(type=str(kind), session=str(session), offset=int(offset), size=int(size))
            for kind, session, offset, size in document["metadata"]
        ),
    )
