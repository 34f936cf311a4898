"""Transcripts of Claude Code, whose format ours is: copied line by line, subagents included.

On the way out, lines only we understand are left out: withdrawn messages with their tombstones, and
what other programs' transcripts were carried in. So are notes of where Claude Code goes on that
what was done here (a rewind, a compaction, a message) has overtaken. Of a session nothing was done
to, every byte goes out.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from siding.sessions.foreign import origin_of, without_origin
from siding.sessions.heads import is_ours, parsed
from siding.sessions.kinds import CHAIN_TYPES, Record
from siding.storage.codec import NotJson, encode_line

_TOMBSTONE = b'"tombstone"'
_OURS = (_TOMBSTONE, b'"foreign-line"', b'"origin"', b'"sidingOrigin"')
_LAST_PROMPT = b'"last-prompt"'


class Files(NamedTuple):
    """A conversation's files where Claude Code keeps them."""

    session_id: str
    transcript: Path
    directory: Path  # with subagents/ and tool-results/; need not exist


class Changes(NamedTuple):
    """What was done to a transcript here: the messages that were withdrawn, and the messages that
    were written after the last one of ours. `since` is None when none of ours is in it.
    """

    withdrawn: frozenset[str]
    since: frozenset[str] | None


def files_at(path: Path) -> Files:
    """Return the files of the transcript at `path`: ``<session>.jsonl`` and ``<session>/``."""
    return Files(session_id=path.stem, transcript=path, directory=path.with_name(path.stem))


def changes_in(lines: Iterable[bytes]) -> Changes:
    """Return what was done to a transcript here."""
    withdrawn = set()
    since: set[str] | None = None
    for line in lines:
        if _TOMBSTONE in line:
            record = _parsed(line)
            if _is_our_line(record) and record.get("type") == "tombstone":
                withdrawn.add(str(record.get("uuid")))
        if is_ours(line):
            record = _parsed(line)
            if record.get("type") in CHAIN_TYPES and origin_of(record) is None:
                since = {str(record.get("uuid"))}
        elif since is not None:
            since.add(str(_parsed(line).get("uuid")))
    return Changes(frozenset(withdrawn), None if since is None else frozenset(since))


def exported(lines: Iterable[bytes], changes: Changes) -> Iterator[bytes]:
    """Yield the lines that other tools shall see; every one of them is as it was in the file,
    unless it was made of another program's line.
    """
    for line in lines:
        if changes.since is not None and _LAST_PROMPT in line and _is_overtaken(line, changes):
            continue
        if not changes.withdrawn and not any(mark in line for mark in _OURS):
            yield line
            continue
        record = _parsed(line)
        if _is_our_line(record) or record.get("uuid") in changes.withdrawn:
            continue
        yield line if origin_of(record) is None else encode_line(without_origin(record))


def _is_overtaken(line: bytes, changes: Changes) -> bool:
    """Whether the line tells Claude Code to go on from a message before our last one.

    It begins at the `leafUuid` of the last such line, whatever was written since.
    """
    record = _parsed(line)
    leaf = record.get("leafUuid")
    return (
        record.get("type") == "last-prompt"
        and isinstance(leaf, str)
        and changes.since is not None
        and leaf not in changes.since
    )


def _is_our_line(record: Record) -> bool:
    """Whether the line is of a type of ours; another program may have one of the same name."""
    return record.get("type") in ("tombstone", "foreign-line") and "v" in record


def _parsed(line: bytes) -> Record:
    try:
        return parsed(line)
    except NotJson:
        return {}
