"""What Siding has changed in a transcript since it was taken over from another program."""

from collections.abc import Iterable
from pathlib import Path

from siding.agents.transcripts.foreign import origin_of, record_of
from siding.agents.transcripts.heads import is_ours
from siding.agents.transcripts.interchange import raw_lines_at
from siding.agents.transcripts.kinds import CHAIN_TYPES, Record
from siding.ground.namedtuples import NamedTuple

_TOMBSTONE = b'"tombstone"'
_REPLACED = b'"content-replacement"'


class Changes(NamedTuple):
    """What Siding did to a transcript.

    `withdrawn`: the ids of withdrawn messages. `since`: the ids of the last message that Siding
    wrote and of everything after it; None when Siding wrote no message.
    """

    withdrawn: frozenset[str]
    since: frozenset[str] | None


def changes_in(lines: Iterable[bytes]) -> Changes:
    """Return what Siding did to the transcript with these lines."""
    withdrawn = set()
    since: set[str] | None = None
    for line in lines:
        if _TOMBSTONE in line:  # most lines are not parsed: they cannot hold what is looked for
            record = record_of(line)
            if is_our_line(record) and record.get("type") == "tombstone":
                withdrawn.add(str(record.get("uuid")))
        if is_ours(line):
            record = record_of(line)
            if record.get("type") in CHAIN_TYPES and origin_of(record) is None:
                since = {str(record.get("uuid"))}
        elif since is not None:
            since.add(str(record_of(line).get("uuid")))
    return Changes(frozenset(withdrawn), None if since is None else frozenset(since))


def is_changed_here(transcript: Path) -> bool:
    """Tell whether something was said, rewound or compacted here since the last import."""
    if changes_in(raw_lines_at(transcript)).since is not None:
        return True
    return any(_REPLACED in line and is_ours(line) for line in raw_lines_at(transcript))


def is_our_line(record: Record) -> bool:
    """Return whether the line has a type that only Siding writes.

    Another program may use the same name for a type of its own; its lines have no `v`.
    """
    return record.get("type") in ("tombstone", "foreign-line") and "v" in record
