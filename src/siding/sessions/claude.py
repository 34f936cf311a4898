"""Transcripts of Claude Code, whose format ours is: copied line by line, subagents included.

On the way out, lines only we understand are left out: withdrawn messages with their tombstones, and
what other programs' transcripts were carried in.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from siding.sessions.heads import parsed
from siding.sessions.kinds import Record
from siding.storage.codec import NotJson, encode_line

_OURS = (b'"tombstone"', b'"foreign-line"', b'"origin"')


class Files(NamedTuple):
    """A conversation's files where Claude Code keeps them."""

    session_id: str
    transcript: Path
    directory: Path  # with subagents/ and tool-results/; need not exist


def files_at(path: Path) -> Files:
    """Return the files of the transcript at `path`: ``<session>.jsonl`` and ``<session>/``."""
    return Files(session_id=path.stem, transcript=path, directory=path.with_name(path.stem))


def withdrawn_in(lines: Iterable[bytes]) -> frozenset[str]:
    """Return the messages that tombstones name."""
    found = set()
    for line in lines:
        if _OURS[0] in line:
            record = _parsed(line)
            if record.get("type") == "tombstone":
                found.add(str(record.get("uuid")))
    return frozenset(found)


def exported(lines: Iterable[bytes], withdrawn: frozenset[str]) -> Iterator[bytes]:
    """Yield the lines that other tools shall see; every one of them is as it was in the file,
    unless it was made of another program's line.
    """
    for line in lines:
        if not withdrawn and not any(mark in line for mark in _OURS):
            yield line
            continue
        record = _parsed(line)
        if record.get("type") in ("tombstone", "foreign-line") or record.get("uuid") in withdrawn:
            continue
        if "origin" in record:
            del record["origin"]
            yield encode_line(record)
        else:
            yield line


def _parsed(line: bytes) -> Record:
    try:
        return parsed(line)
    except NotJson:
        return {}
