"""Export transcripts for Claude Code, whose format is ours: line by line, subagents included.

An export leaves out the lines that only Siding understands: withdrawn messages, their tombstones,
and the lines that carry another program's transcript. It also leaves out `last-prompt` notes that
are out of date, because Claude Code would go on from a message before the last one written here
(seen in Claude Code 2.1.197). A session that was only imported is exported byte for byte.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from siding.agents.transcripts.clients.foreign import origin_of, without_origin
from siding.agents.transcripts.heads import is_ours, parsed
from siding.agents.transcripts.kinds import CHAIN_TYPES, Record
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.codec import NotJson, encode_line

_TOMBSTONE = b'"tombstone"'
_OURS = (_TOMBSTONE, b'"foreign-line"', b'"origin"', b'"sidingOrigin"')
_LAST_PROMPT = b'"last-prompt"'


class Files(NamedTuple):
    """A conversation's files where Claude Code keeps them."""

    session_id: str
    transcript: Path
    directory: Path  # with subagents/ and tool-results/; need not exist


class Changes(NamedTuple):
    """What Siding did to a transcript.

    `withdrawn`: the ids of withdrawn messages. `since`: the ids of the last message that Siding
    wrote and of everything after it; None when Siding wrote no message.
    """

    withdrawn: frozenset[str]
    since: frozenset[str] | None


def files_at(path: Path) -> Files:
    """Return the files of the transcript at `path`: ``<session>.jsonl`` and ``<session>/``."""
    return Files(session_id=path.stem, transcript=path, directory=path.with_name(path.stem))


def changes_in(lines: Iterable[bytes]) -> Changes:
    """Return what Siding did to the transcript with these lines."""
    withdrawn = set()
    since: set[str] | None = None
    for line in lines:
        if _TOMBSTONE in line:  # most lines are not parsed: they cannot hold what is looked for
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
    """Yield the lines for other tools, byte for byte as they are in the file.

    Only messages that were made from another program's line are written anew, without that line.
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
    """Return whether the line tells Claude Code to go on from a message before our last one.

    Claude Code resumes at the `leafUuid` of the last `last-prompt` line, even if newer messages
    follow it.
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
    """Return whether the line has a type that only Siding writes.

    Another program may use the same name for a type of its own; its lines have no `v`.
    """
    return record.get("type") in ("tombstone", "foreign-line") and "v" in record


def _parsed(line: bytes) -> Record:
    try:
        return parsed(line)
    except NotJson:
        return {}
