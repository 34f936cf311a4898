"""Compare a ledger with its anchor, in one reading of all lines."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from siding.ground.files.regular import open_regular
from siding.ground.hashing import Sha256, sha256_hex
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.journals import TORN, Entry
from siding.record.ledger.anchor import Anchor, TaskIdentity

# Fields of a line that are about the anchor; see FORMAT.md.
TASK = "task"
BEFORE = "before"
NOT_AS_ANCHORED = "not_as_anchored"
_LISTED = 100  # entries


class Survey(NamedTuple):
    """A ledger beside its anchor. `entries` have numbers if the ledger was read from its start."""

    lines: int
    anchored: int  # lines that say that they are anchored
    # The line that the anchor names is there, in its place and unchanged. False without an anchor.
    holds: bool
    # Only the newline of that line is missing; the next append adds it.
    unclosed: bool
    past: tuple[Entry, ...]  # the first hundred lines behind the anchor
    marked: tuple[Entry, ...]  # lines before which the ledger was not as its anchor said
    sealing: tuple[Entry, ...]  # lines with a digest of everything before them
    identity: TaskIdentity | None  # in the newest line before the anchor's end that names one
    newest: Entry | None  # the newest line that can be read, up to the anchor's end
    head: Entry | None  # the line whose hash was asked for


def survey(anchor: Anchor | None, entries: Iterable[Entry], *, head: str = "") -> Survey:
    """Read all entries of a ledger; `head` is the hash of a line to look for."""
    lines = anchored = 0
    holds = unclosed = False
    past: list[Entry] = []
    marked: list[Entry] = []
    sealing: list[Entry] = []
    identity: TaskIdentity | None = None
    newest: Entry | None = None
    found: Entry | None = None
    for entry in entries:
        lines += 1
        named = identity_of(entry)
        anchored += named is not None
        if entry.record is not None:
            if NOT_AS_ANCHORED in entry.record:
                marked.append(entry)
            if BEFORE in entry.record:
                sealing.append(entry)
        if head and sha256_hex(entry.raw) == head:
            found = entry
        if anchor is not None and entry.end > anchor.size:
            past = [*past, entry][:_LISTED]
            continue
        newest = newest if entry.record is None else entry
        identity = named or identity
        if anchor is not None and is_at_end(anchor, entry):
            holds = lines == anchor.lines
            unclosed = entry.end < anchor.size
    return Survey(
        lines=lines,
        anchored=anchored,
        holds=holds,
        unclosed=unclosed,
        past=tuple(past),
        marked=tuple(marked),
        sealing=tuple(sealing),
        identity=identity,
        newest=newest,
        head=found,
    )


def is_at_end(anchor: Anchor, entry: Entry) -> bool:
    """Return whether the entry is the line that the anchor names, at the end that it names.

    A line that lacks only its newline is: the next append writes it, and all is as it was.
    """
    end = entry.end + (entry.problem == TORN)
    return anchor.size in (entry.end, end) and sha256_hex(entry.raw) == anchor.head


def identity_of(entry: Entry | None) -> TaskIdentity | None:
    """Return the identity of the task in a line; None for a line that is not anchored."""
    named: Any = None if entry is None or entry.record is None else entry.record.get(TASK)
    return TaskIdentity.from_record(named) if isinstance(named, dict) else None


def digest_until(path: Path, end: int, more: bytes = b"") -> str:
    """Return the SHA-256 of the first `end` bytes of a file and `more`."""
    digest = Sha256()
    with open(open_regular(path), "rb") as file:
        left = end
        while left and (block := file.read(min(left, 1 << 20))):
            digest.update(block)
            left -= len(block)
    digest.update(more)
    return digest.hexdigest()
