"""The anchor of a ledger: how long the ledger is and the hash of its newest line, kept outside it.

The hash chain protects every line but the newest: no line after it names its hash. The anchor does.
It lies in the snapshot store, ``snapshots.git/tasks/<id>/ledger-head``, and is written after each
append. It has a fixed size and is written in place, because to replace it would cost as much as
four more appends (measured on ext4). If that is cut off, its checksum is wrong; the act's intent is
there then, and recovery writes it again.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from siding.ground.files.durable import flush, make_dirs, remove_file, replace_by_lock
from siding.ground.files.regular import open_with_stat, read_bytes
from siding.ground.hashing import sha256_hex
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.codec import NotJson, parse_object
from siding.ground.storage.documents import read_document_or_none, write_document
from siding.ground.storage.errors import DamagedFile, NewerVersion
from siding.ground.storage.fields import text
from siding.ground.storage.writes import encode_line

ANCHOR_VERSION = 1
SIZE = 256  # bytes; within one sector of a disk
WHAT = "anchor"  # in messages about the file
_NEXT_VERSION = 1


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
