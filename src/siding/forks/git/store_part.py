"""The part of the snapshot store that belongs to a worktree, handed on from fork to fork.

A task's part of the store holds caches of its worktree (the private index, what was seen of the
directories, the permissions), which are worth as much as a look at every file. While a worktree of
the pool waits, they lie in ``snapshots.git/slots/<worktree>``. What belongs to the task (its base
commit, the anchor of its ledger, its ref) stays with the task.
"""

import os
from contextlib import suppress
from pathlib import Path

from siding.ground.files.durable import flush_dir, write_and_rename
from siding.ground.files.regular import read_small
from siding.ground.git import refs
from siding.ground.ids import Sha, TaskId
from siding.record.snapshots.store import SnapshotStore

_OF_THE_WORKTREE = ("index", "seen", "modes", "sparse", "commondir", "excludes")


def slot_part(store: SnapshotStore, slot: str) -> Path:
    """Return where the part of a worktree that waits is, whether it is there or not."""
    return store.root / "slots" / refs.check_ref_part(slot)


def lend(store: SnapshotStore, slot: str, task_id: TaskId, *, base: Sha, excludes: bytes) -> None:
    """Make a task's part of the store from that of a worktree. Its ref is the caller's to write."""
    task = store.task(task_id)
    task.path.mkdir(mode=0o700, exist_ok=True)
    flush_dir(task.path.parent)
    _hand_on(slot_part(store, slot), task.path)
    for name, data in (
        ("commondir", b"../..\n"),
        ("HEAD", f"ref: {task.ref}\n".encode()),
        ("base", f"{base}\n".encode()),
        ("excludes", excludes),
    ):
        if read_small(task.path / name) != data:
            write_and_rename(task.path / (name + ".lock"), task.path / name, data)
    flush_dir(task.path)


def take_back(store: SnapshotStore, task_id: TaskId, slot: str) -> None:
    """Take the worktree's caches out of a task's part of the store."""
    part = slot_part(store, slot)
    part.mkdir(mode=0o700, parents=True, exist_ok=True)
    _hand_on(store.task(task_id).path, part)


def _hand_on(source: Path, target: Path) -> None:
    """Rename the caches. A power cut may lose some: each can be made again from the snapshot."""
    for name in _OF_THE_WORKTREE:
        with suppress(FileNotFoundError):
            os.rename(source / name, target / name)
