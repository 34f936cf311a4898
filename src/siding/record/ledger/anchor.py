"""The anchor of a ledger: how long the ledger is and the hash of its newest line, kept outside it.

The hash chain protects every line but the newest: no line after it names its hash. The anchor does.
It lies in the snapshot store, ``snapshots.git/tasks/<id>/ledger-head``, and is written after each
append. It has a fixed size and is written in place, because to replace it would cost as much as
four more appends (measured on ext4). If that is cut off, its checksum is wrong; the act's intent is
there then, and recovery writes it again.

`AnchorKeeper` checks the anchor before each append and writes it afterwards; `survey` compares it
with all lines. A ledger that is not as its anchor says is appended to all the same, because no step
may be lost. The new line then says what the anchor said, so that the difference is found for ever
after (`siding verify`), although the anchor is written again.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from siding.ground.errors import NotARegularFile
from siding.ground.files.durable import flush, make_dirs, remove_file, replace_by_lock
from siding.ground.files.regular import open_regular, open_with_stat, read_bytes
from siding.ground.hashing import Sha256, sha256_hex
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.codec import NotJson, parse_object
from siding.ground.storage.documents import read_document_or_none, write_document
from siding.ground.storage.errors import DamagedFile, NewerVersion
from siding.ground.storage.fields import text
from siding.ground.storage.journals import TORN, Entry, Journal
from siding.ground.storage.writes import encode_line
from siding.record.ledger.store import link

ANCHOR_VERSION = 1
SIZE = 256  # bytes; within one sector of a disk
WHAT = "anchor"  # in messages about the file
_NEXT_VERSION = 1
# Fields of a line that are about the anchor; see FORMAT.md.
TASK = "task"
BEFORE = "before"
NOT_AS_ANCHORED = "not_as_anchored"
_LISTED = 100  # entries


class TaskIdentity(NamedTuple):
    """What the record binds of a task: each line names it.

    Everything else of ``task.json`` may change at any time.
    """

    id: str
    name: str
    base_ref: str
    base_commit: str
    branch: str

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "TaskIdentity":
        """Return the identity in a task's document or in a line's ``task``."""
        return cls(*(text(record.get(name)) for name in cls._fields))

    def as_record(self) -> dict[str, str]:
        return self._asdict()


class Anchor(NamedTuple):
    """What the ledger was after its newest line was appended."""

    lines: int  # blank ones are not counted
    size: int  # bytes
    head: str  # the SHA-256 of the newest line, without its newline

    def encoded(self) -> bytes:
        """Return the bytes of the file."""
        record = {"version": ANCHOR_VERSION, **self._asdict(), "check": _check(self)}
        return encode_line(record).ljust(SIZE - 1) + b"\n"


def read_anchor(path: Path) -> Anchor | None:
    """Return the anchor; None if there is none.

    Raises DamagedFile, also for one that was not written to its end, NewerVersion and
    NotARegularFile.
    """
    try:
        record = parse_object(read_bytes(path, limit=1 << 20))
    except FileNotFoundError:
        return None
    except NotJson as error:
        raise DamagedFile(path, str(error), what=WHAT) from error
    version = record.get("version")
    if isinstance(version, int) and version > ANCHOR_VERSION:
        raise NewerVersion(path, WHAT, version, ANCHOR_VERSION)
    lines, size, head = record.get("lines"), record.get("size"), text(record.get("head"))
    if not isinstance(lines, int) or not isinstance(size, int):
        raise DamagedFile(path, "it lacks a number", what=WHAT)
    anchor = Anchor(lines, size, head)
    if record.get("check") != _check(anchor):
        raise DamagedFile(path, "its checksum is wrong", what=WHAT)
    return anchor


def write_anchor(path: Path, anchor: Anchor) -> None:
    """Write the anchor; when this returns, it survives a power cut. Raises OSError."""
    data = anchor.encoded()
    try:
        fd, status = open_with_stat(path, os.O_WRONLY)
    except FileNotFoundError:
        make_dirs(path.parent)
        replace_by_lock(path, data)
        return
    try:
        if status.st_size == SIZE:
            written = os.pwrite(fd, data, 0)
            while written < SIZE:
                written += os.pwrite(fd, data[written:], written)
            flush(fd)
            return
    finally:
        os.close(fd)
    replace_by_lock(path, data)


def read_next_task(path: Path) -> TaskIdentity | None:
    """Return what was announced beside the anchor `path`; None if nothing was, or not readably."""
    try:
        record = read_document_or_none(_next(path), what="next task", version=_NEXT_VERSION)
    except DamagedFile:
        return None
    return None if record is None else TaskIdentity.from_record(record)


def announce_change(path: Path, wanted: TaskIdentity) -> None:
    """Note beside the anchor `path` which base and branch the task is about to get.

    The caller holds the task's lock, and writes ``task.json`` after this. If the act is cut off or
    taken back, either value is right until the next line is appended.
    """
    if os.path.lexists(path):
        write_document(_next(path), {"version": _NEXT_VERSION, **wanted.as_record()})


def forget_change(path: Path) -> None:
    """Remove what was announced, after a line has named it."""
    remove_file(_next(path))


def _next(path: Path) -> Path:
    return path.with_name("next-task")


def _check(anchor: Anchor) -> str:
    return sha256_hex(f"{anchor.lines} {anchor.size} {anchor.head}".encode())[:16]


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


class AnchorKeeper:
    """The anchor of one ledger. The caller holds the task's lock.

    `task` returns what ``task.json`` says now; it is asked only if no line names it yet. `say` gets
    a sentence if the ledger is not as its anchor says.
    """

    def __init__(
        self,
        path: Path,
        ledger: Path,
        *,
        task: Callable[[], TaskIdentity],
        say: Callable[[str], None],
    ) -> None:
        self._path = path
        self._journal = Journal(ledger)
        self._task = task
        self._say = say
        self._before = Anchor(0, 0, "")  # the ledger without the line that `put` anchors
        self._is_announced = False

    def is_changing(self) -> bool:
        """Return whether the task was given another base or branch that no line names yet.

        Raises NewerVersion, so that nothing begins that could not be anchored.
        """
        self._read()
        if read_next_task(self._path) is None:
            return False
        named = self._named()
        coming = None if named is None else self._coming(named)
        return coming is not None and coming != named

    def agrees(self) -> bool:
        """Return whether the anchor names the newest line: a Siding command appended it."""
        anchor, _damaged = self._read()
        last = self._journal.last()
        if anchor is None or last is None:
            return anchor is None and last is None
        return is_at_end(anchor, last)

    def fields(self, before: bytes | None) -> dict[str, Any]:
        """Return the fields of the next line that are about the anchor.

        Called under the journal's lock, right before the line is written; `before` is the line
        before it. Raises NewerVersion.
        """
        anchor, damaged = self._read()
        size = self._journal.path.stat().st_size
        marks: dict[str, Any] = {}
        lines = 0 if anchor is None else anchor.lines
        if anchor is None or anchor.size != size or link(before) != anchor.head:
            lines, marks = self._look_closer(anchor, damaged=damaged)
        self._before = Anchor(lines, size, "")
        return {TASK: self._identity(before).as_record(), **marks}

    def put(self) -> None:
        """Write the anchor after the line with `fields` was appended. Raises OSError."""
        with open(open_regular(self._journal.path), "rb") as file:
            file.seek(self._before.size)
            line = file.read()
        head = sha256_hex(line.strip(b"\n"))  # a torn line before it was closed by a newline
        size = self._before.size + len(line)
        write_anchor(self._path, Anchor(self._before.lines + 1, size, head))
        if self._is_announced:
            forget_change(self._path)

    def catch_up(self) -> None:
        """Anchor the newest line, which was appended by an act that was cut off right after it.

        Nothing is done if that line is anchored already, or if more than it differs from what the
        anchor says: then the next line says so. Raises OSError.
        """
        last = self._journal.last()
        anchor, damaged = self._read()
        if last is None or last.record is None or TASK not in last.record:
            return
        if anchor is not None and is_at_end(anchor, last):
            return
        found = survey(anchor, self._journal.entries())
        if damaged:
            follows = True  # it was being written; the chain protects the lines before
        elif anchor is None:
            follows = found.anchored == 1
        else:
            *between, _last = found.past or (last,)
            follows = found.holds and _are_torn(between)
        if follows and NOT_AS_ANCHORED not in last.record:
            write_anchor(self._path, Anchor(found.lines, last.end, sha256_hex(last.raw)))

    def _read(self) -> tuple[Anchor | None, bool]:
        """Return the anchor, and whether it is damaged."""
        try:
            return read_anchor(self._path), False
        except (DamagedFile, NotARegularFile):
            return None, True

    def _look_closer(self, anchor: Anchor | None, *, damaged: bool) -> tuple[int, dict[str, Any]]:
        """Return the number of lines, and what the next line has to say of them."""
        found = survey(anchor, self._journal.entries())
        if anchor is not None and found.holds and _are_torn(found.past):
            return found.lines, {}  # lines that killed writers left: promised to nobody
        if anchor is None and not damaged and not found.anchored:
            return found.lines, {BEFORE: self._digest()} if found.lines else {}
        self._say("the ledger is not as its anchor says; `siding verify` says more")
        said: dict[str, Any] = {"damaged": True} if damaged else {}
        if anchor is not None:
            said = {"lines": anchor.lines, "head": anchor.head}
        return found.lines, {NOT_AS_ANCHORED: said}

    def _digest(self) -> str:
        """Return the digest of the ledger as it is once its last line is closed."""
        with open(open_regular(self._journal.path), "rb") as file:
            size = file.seek(0, os.SEEK_END)
            is_closed = os.pread(file.fileno(), 1, size - 1) == b"\n"
        return digest_until(self._journal.path, size, b"" if is_closed else b"\n")

    def _identity(self, before: bytes | None) -> TaskIdentity:
        """Return what the next line says of the task: what was bound, not what somebody wrote."""
        named = _identity_in(before) or self._named()
        return self._task() if named is None else self._coming(named) or named

    def _coming(self, named: TaskIdentity) -> TaskIdentity | None:
        """Return what was announced if ``task.json`` has it. The id and the name never change."""
        coming = read_next_task(self._path)
        self._is_announced = coming is not None
        if coming is None:
            return None
        coming = coming._replace(id=named.id, name=named.name)
        return coming if self._task()._replace(id=named.id, name=named.name) == coming else None

    def _named(self) -> TaskIdentity | None:
        """Return what the newest line that names the task says of it."""
        count = 1
        while True:
            entries = self._journal.tail(count)
            for entry in reversed(entries):
                if (named := identity_of(entry)) is not None:
                    return named
            if len(entries) < count:
                return None
            count *= 8


def _identity_in(line: bytes | None) -> TaskIdentity | None:
    try:
        named = {} if line is None else parse_object(line).get(TASK)
    except NotJson:
        return None
    return TaskIdentity.from_record(named) if isinstance(named, dict) and named else None


def _are_torn(entries: "tuple[Entry, ...] | list[Entry]") -> bool:
    return all(entry.problem is not None and entry.problem.startswith(TORN) for entry in entries)
