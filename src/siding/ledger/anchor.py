"""The anchor of a ledger: how long the ledger is and the hash of its newest line, kept outside it.

The hash chain protects every line but the newest: no line after it names its hash. The anchor does.
It lies in the snapshot store, ``snapshots.git/tasks/<id>/ledger-head``, and is replaced after each
append. It also names what the record binds of the task, as each line does (`TaskIdentity`).
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from siding.errors import NotARegularFile
from siding.files.durable import make_dirs, replace_by_lock
from siding.ledger.fields import text
from siding.namedtuples import NamedTuple
from siding.storage.codec import encode_document
from siding.storage.documents import read_document_or_none
from siding.storage.errors import DamagedFile

ANCHOR_VERSION = 1
WHAT = "anchor"  # in messages about the file


class TaskIdentity(NamedTuple):
    """What the record binds of a task. Everything else of ``task.json`` may change at any time."""

    id: str
    name: str
    base_ref: str
    base_commit: str
    branch: str

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "TaskIdentity":
        """Return the identity in a task's document, in an anchor or in a line's ``task``."""
        return cls(*(text(record.get(name)) for name in cls._fields))

    def as_record(self) -> dict[str, str]:
        return self._asdict()


class Anchor(NamedTuple):
    """What the ledger was after its newest line was appended.

    `next_task` is set while the task gets another base or branch: until the next line is appended,
    ``task.json`` has `task` or `next_task`.
    """

    lines: int  # blank ones are not counted
    size: int  # bytes
    head: str  # the SHA-256 of the newest line, without its newline
    task: TaskIdentity
    next_task: TaskIdentity | None = None

    def as_record(self) -> dict[str, Any]:
        record: dict[str, Any] = {
            "version": ANCHOR_VERSION,
            "lines": self.lines,
            "size": self.size,
            "head": self.head,
            "task": self.task.as_record(),
        }
        if self.next_task is not None:
            record["next_task"] = self.next_task.as_record()
        return record


def read_anchor(path: Path) -> Anchor | None:
    """Return the anchor; None if there is none. Raises DamagedFile and NewerVersion."""
    document = read_document_or_none(
        path,
        what=WHAT,
        version=ANCHOR_VERSION,
        required=("lines", "size", "head", "task"),
    )
    if document is None:
        return None
    task, next_task = document["task"], document.get("next_task")
    if (
        not isinstance(task, dict)
        or not isinstance(next_task, dict | None)
        or not isinstance(document["lines"], int)
        or not isinstance(document["size"], int)
    ):
        raise DamagedFile(path, "a field has the wrong type", what=WHAT)
    return Anchor(
        lines=document["lines"],
        size=document["size"],
        head=text(document["head"]),
        task=TaskIdentity.from_record(task),
        next_task=None if next_task is None else TaskIdentity.from_record(next_task),
    )


def write_anchor(path: Path, anchor: Anchor) -> None:
    """Replace the anchor; when this returns, the new one survives a power cut."""
    raw = encode_document(anchor.as_record())
    try:
        replace_by_lock(path, raw)
    except FileNotFoundError:  # the task has no directory in the store: that was lost
        make_dirs(path.parent)
        replace_by_lock(path, raw)


def announce_change(path: Path, wanted: TaskIdentity) -> None:
    """Note in the anchor which base and branch the task is about to get; then write ``task.json``.

    The caller holds the task's lock. Nothing is noted for a task without an anchor. The id and the
    name never change, so they stay those of the anchor. If the act is cut off or taken back, either
    value is right until the next line is appended.
    """
    try:
        anchor = read_anchor(path)
    except (DamagedFile, NotARegularFile):
        return  # `siding verify` says so, and the next line does
    if anchor is None:
        return
    coming = wanted._replace(id=anchor.task.id, name=anchor.task.name)
    if coming not in (anchor.task, anchor.next_task):
        write_anchor(path, anchor._replace(next_task=coming))
