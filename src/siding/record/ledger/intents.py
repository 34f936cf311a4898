"""Acts that began and have no ledger line yet: one file ``intents/<act id>.json`` for each.

An act writes its intent before it changes anything, and removes it after its ledger line is flushed
to disk. The process holds the lock ``<act id>.lock`` beside the file while it lives. If an intent
exists and its lock is free, the act was cut off; the next command in the task finishes it.

Earlier versions wrote a single ``running.json`` instead and held the lock of the task. This file
is read and finished like any other intent, and is never written.
"""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from siding.ground.files.durable import make_dirs, remove_file
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.documents import read_document_or_none, write_document
from siding.ground.storage.errors import DamagedFile
from siding.ground.storage.fields import whole_or_none
from siding.ground.storage.layout import TaskLayout
from siding.ground.storage.locks import FileLock, Holder, LockBusy
from siding.record.ledger.intent_files import SUFFIX, intent_paths

if TYPE_CHECKING:  # imported in `_read`: most commands find no intent and never need it
    from siding.record.ledger.draft import Draft

INTENT_VERSION = 1


class Intent(NamedTuple):
    """An act that has begun."""

    act: str  # the act's id; "" if it was read from running.json
    number: int  # its step will get this number, unless another process appends a line first
    kind: str
    started_at: str
    pid: int
    token: str  # in the environment of everything the act starts
    parent: str | None
    draft: "Draft"

    @property
    def title(self) -> str:
        """The command, quoted so that it can be typed into a shell; "" for other kinds."""
        return self.draft.title

    @property
    def run(self) -> str:
        """The id of the run that has begun; "" for an act of another kind."""
        run = self.draft.as_run
        return "" if run is None else run.run

    @property
    def stem(self) -> str:
        """The first part of the file names of its artifacts, until its line is written."""
        return self.act or f"{self.number:04d}"

    def as_record(self) -> dict[str, Any]:
        """Return the fields of the JSON document; ``record`` holds the draft of the step."""
        fields = self._asdict()
        del fields["draft"]
        return {**fields, "record": self.draft.as_record()}


class Intents:
    """The intents of one task. An object keeps the locks of the acts that were begun through it."""

    def __init__(self, layout: TaskLayout) -> None:
        self._layout = layout
        self._held: dict[str, FileLock] = {}

    def all(self) -> list[Intent]:
        """Return every intent, oldest first; raise DamagedFile or NewerVersion."""
        found = [
            intent for path in intent_paths(self._layout) if (intent := _read(path)) is not None
        ]
        return sorted(found, key=lambda intent: (intent.started_at, intent.number))

    def newest(self) -> Intent | None:
        """Return the newest act that is running, else the newest one that was cut off."""
        found = self.all()
        alive = [intent for intent in found if not self.is_cut_off(intent)]
        chosen = alive or found
        return chosen[-1] if chosen else None

    def is_cut_off(self, intent: Intent) -> bool:
        """Return whether the act's process died; False if it is running or has ended properly."""
        if self._lock(intent).is_locked():
            return False
        # The order matters: an act that ends removes its intent before it releases its lock. So
        # a free lock and an intent that is still there can only mean that the process died.
        return os.path.lexists(self.path(intent))

    def holder(self, intent: Intent) -> Holder | None:
        """Return the process that holds the act's lock; None if the lock is free."""
        return self._lock(intent).holder()

    def write(self, intent: Intent, holder: Holder) -> None:
        """Write the intent durably. The first call takes the act's lock; `clear` releases it."""
        path = self.path(intent)
        is_first = intent.act not in self._held
        if is_first:
            make_dirs(path.parent)
            lock = FileLock(path.with_suffix(".lock"))
            self._held[intent.act] = lock.acquire(timeout_s=0, holder=holder)
        try:
            write_document(path, {"version": INTENT_VERSION, **intent.as_record()})
        except OSError:
            if is_first and not os.path.lexists(path):  # a full disk: leave no lock of no act
                self.clear(intent)
            raise

    def descriptor(self, intent: Intent) -> int:
        """Return the descriptor of an act's lock, for a process that holds it beyond our end."""
        return self._held[intent.act].fd

    def take_over(self, intent: Intent) -> bool:
        """Take the lock of an act whose process is dead; return False if the process is alive.

        The caller holds the lock of the task.
        """
        if not intent.act or intent.act in self._held:
            return True  # an act from running.json was protected by the lock of the task
        lock = self._lock(intent)
        if lock.is_locked():
            return False  # a run that lives, most often: `acquire` would be patient with it
        try:
            lock.acquire(timeout_s=0)
        except LockBusy:
            return False
        self._held[intent.act] = lock
        return True

    def clear(self, intent: Intent) -> None:
        """Remove the intent durably, once its line is in the ledger or if the act did nothing."""
        remove_file(self.path(intent))
        lock = self._held.pop(intent.act, None)
        if lock is not None:
            lock.path.unlink(missing_ok=True)  # safe: an act's id is used once, nobody waits for it
            lock.release()

    def release(self) -> None:
        """Release the locks of all acts that are not cleared: they count as cut off from now on."""
        while self._held:
            self._held.popitem()[1].release()

    def path(self, intent: Intent) -> Path:
        """Return the path of the intent's file."""
        if not intent.act:
            return self._layout.running_json
        return self._layout.intents_dir / f"{intent.act}{SUFFIX}"

    def _lock(self, intent: Intent) -> FileLock:
        if not intent.act:
            return FileLock(self._layout.lock)
        return FileLock(self.path(intent).with_suffix(".lock"))


def _is_text(value: object) -> bool:
    return value is None or isinstance(value, str)


def _is_snapshot(value: object) -> bool:
    hexadecimal = isinstance(value, str) and set(value) <= set("0123456789abcdef")
    return not value or (hexadecimal and len(str(value)) in (40, 64))


# What a field may hold. One that is missing is None.
_FIELDS: Mapping[str, Callable[[object], bool]] = {
    "number": lambda value: (whole_or_none(value) or 0) > 0,
    "kind": lambda value: isinstance(value, str),
    "started_at": _is_text,
    "pid": lambda value: value is None or whole_or_none(value) is not None,
    "token": _is_text,
    "parent": _is_snapshot,
    "record": lambda value: value is None or isinstance(value, dict),
}


def _read(path: Path) -> Intent | None:
    document = read_document_or_none(
        path, what="step in progress", version=INTENT_VERSION, required=("number", "kind")
    )
    if document is None:
        return None
    wrong = [name for name, is_right in _FIELDS.items() if not is_right(document.get(name))]
    if wrong:
        raise DamagedFile(path, f"{wrong[0]!r} is not what it must be", what="step in progress")
    from siding.record.ledger.draft import Draft

    return Intent(
        act=path.stem if path.parent.name == "intents" else "",
        number=document["number"],
        kind=document["kind"],
        started_at=document.get("started_at") or "",
        pid=document.get("pid") or 0,
        token=document.get("token") or "",
        parent=document.get("parent") or None,
        draft=Draft.from_record(document["kind"], document.get("record") or {}),
    )
