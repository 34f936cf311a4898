"""Acts that have begun and are not known to have ended: ``intents/<act id>.json``, one file each.

An act writes its intent before anything of it happens, and removes it when its ledger line is
flushed. Beside the file lies ``<act id>.lock``, which the act holds for as long as it lives: an
intent whose lock nobody holds is an act that was cut off. The next command in the task finishes it.

Homes of earlier versions have one ``running.json`` instead, whose act holds the lock of the task.
It is read and finished like any other, and never written.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from siding.files.durable import make_dirs, remove_file
from siding.storage.documents import read_document_or_none, write_document
from siding.storage.layout import TaskLayout
from siding.storage.locks import FileLock, Holder, LockBusy

if TYPE_CHECKING:  # loaded where there is such a document: most of the time there is none
    from siding.ledger.draft import Draft

INTENT_VERSION = 1
_SUFFIX = ".json"


class Intent(NamedTuple):
    """What is known about an act before it ends."""

    act: str  # the act's own id; "" for one that was found in running.json
    number: int  # of its step, unless another process appends a line first
    kind: str
    started_at: str
    pid: int
    token: str  # in the environment of everything the act starts
    parent: str | None
    draft: "Draft"

    @property
    def title(self) -> str:
        """The command that runs, quoted so that it can be typed again; "" for other kinds."""
        return self.draft.title

    @property
    def stem(self) -> str:
        """What the names of its artifacts begin with until its line is written."""
        return self.act or f"{self.number:04d}"

    def as_record(self) -> dict[str, Any]:
        """Return the document's fields; ``record`` is the ledger line as far as it is known."""
        fields = self._asdict()
        del fields["draft"]
        return {**fields, "record": self.draft.as_record()}


class Intents:
    """The intents of one task. One object holds the locks of the acts that it began."""

    def __init__(self, layout: TaskLayout) -> None:
        self._layout = layout
        self._held: dict[str, FileLock] = {}

    def all(self) -> list[Intent]:
        """Return every intent, oldest first. Raises DamagedFile and NewerVersion."""
        found = [
            intent for path in intent_paths(self._layout) if (intent := _read(path)) is not None
        ]
        return sorted(found, key=lambda intent: (intent.started_at, intent.number))

    def newest(self) -> Intent | None:
        """Return the act that is under way, else the newest one that was cut off."""
        found = self.all()
        alive = [intent for intent in found if not self.is_cut_off(intent)]
        if alive or found:
            return (alive or found)[-1]
        return None

    def is_cut_off(self, intent: Intent) -> bool:
        """Return whether the act's process died; False for one that lives, or has ended since."""
        if self._lock(intent).is_locked():
            return False
        # Asked last: an act that ends removes its intent before it lets go of its lock.
        return os.path.lexists(self.path(intent))

    def holder(self, intent: Intent) -> Holder | None:
        """Return who holds the act; None when nobody does."""
        return self._lock(intent).holder()

    def write(self, intent: Intent, holder: Holder) -> None:
        """Make the intent durable. The first call takes the act's lock; `clear` lets it go."""
        path = self.path(intent)
        if intent.act not in self._held:
            make_dirs(path.parent)
            lock = FileLock(path.with_suffix(".lock"))
            self._held[intent.act] = lock.acquire(timeout_s=0, holder=holder)
        write_document(path, {"version": INTENT_VERSION, **intent.as_record()})

    def take_over(self, intent: Intent) -> bool:
        """Take the lock of an act whose process is dead; return False if it is alive.

        The lock of the task is held.
        """
        if not intent.act or intent.act in self._held:
            return True  # before acts had locks of their own, the task's was theirs
        try:
            lock = self._lock(intent).acquire(timeout_s=0)
        except LockBusy:
            return False
        self._held[intent.act] = lock
        return True

    def clear(self, intent: Intent) -> None:
        """Remove the intent, durably: its line is in the ledger, or it did nothing."""
        remove_file(self.path(intent))
        lock = self._held.pop(intent.act, None)
        if lock is not None:
            lock.path.unlink(missing_ok=True)  # nobody waits for it: an act's id is used once
            lock.release()

    def release(self) -> None:
        """Let go of every act that is not cleared: from now on it counts as cut off."""
        while self._held:
            self._held.popitem()[1].release()

    def path(self, intent: Intent) -> Path:
        """Return where the intent is kept."""
        if not intent.act:
            return self._layout.running_json
        return self._layout.intents_dir / f"{intent.act}{_SUFFIX}"

    def _lock(self, intent: Intent) -> FileLock:
        if not intent.act:
            return FileLock(self._layout.lock)
        return FileLock(self.path(intent).with_suffix(".lock"))


def has_intents(task_directory: str) -> bool:
    """Return whether an act has begun in a task and is not in its ledger yet; reads no file."""
    return bool(intent_paths(TaskLayout(Path(task_directory))))


def intent_paths(layout: TaskLayout) -> list[Path]:
    """Return the files of a task's intents; the usual answer is none, and costs one look."""
    directory = os.fspath(layout.intents_dir)
    try:
        names = os.listdir(directory)
    except FileNotFoundError:
        names = []
    found = [Path(directory, name) for name in names if is_intent(name)]
    old = layout.running_json
    return [*found, old] if os.path.lexists(old) else found


def is_intent(name: str) -> bool:
    """Tell whether a file in the directory of intents is one: locks and temporary files are not."""
    return name.endswith(_SUFFIX) and not name.startswith(".")


def _read(path: Path) -> Intent | None:
    document = read_document_or_none(
        path, what="step in progress", version=INTENT_VERSION, required=("number", "kind")
    )
    if document is None:
        return None
    from siding.ledger.draft import Draft

    return Intent(
        act=path.stem if path.parent.name == "intents" else "",
        number=int(document["number"]),
        kind=str(document["kind"]),
        started_at=str(document.get("started_at", "")),
        pid=int(document.get("pid", 0)),
        token=str(document.get("token", "")),
        parent=document.get("parent"),
        draft=Draft.from_record(str(document["kind"]), document.get("record") or {}),
    )
