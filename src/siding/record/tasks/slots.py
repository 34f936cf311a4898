"""The books of the pool: a document for each worktree that forks and views use.

A worktree that waits has its document in ``forks/free``, one that is used in ``forks/used``.
Whoever makes, takes or returns a worktree holds its lock. If both documents are there, the one in
``used`` counts. A worktree in ``used`` whose lock is free and whose owner does not have it was left
half-made.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from siding.ground.errors import UnreadableFile
from siding.ground.files.durable import make_dirs, remove_file
from siding.ground.ids import Sha, new_task_id
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.documents import is_id, listed_ids, read_document_or_none, write_document
from siding.ground.storage.layout import ForkLayout, checked_name
from siding.ground.storage.locks import FileLock

SLOT_VERSION = 1
SLOT_PREFIX = "slot-"
_SUFFIX = ".json"


class Slot(NamedTuple):
    """A worktree of the pool, and the recorded state that it is in.

    `base` is the commit that its snapshots are relative to. `snapshot` is "" while the state is not
    known. `owner` is the id of the fork or the name of the view that has it, "" while it waits.
    """

    name: str
    git_dir: str
    device: int
    inode: int
    base: Sha
    snapshot: Sha = Sha("")
    head: Sha = Sha("")
    details: str = ""
    owner: str = ""

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Slot":
        """Return what `record` wrote; raise ValueError or KeyError for something else."""
        return cls(
            name=checked_name(str(record["name"])),
            git_dir=str(record["git_dir"]),
            device=int(record["device"]),
            inode=int(record["inode"]),
            base=Sha(str(record.get("base") or "")),
            snapshot=Sha(str(record.get("snapshot") or "")),
            head=Sha(str(record.get("head") or "")),
            details=str(record.get("details") or ""),
            owner=str(record.get("owner") or ""),
        )

    def record(self) -> dict[str, Any]:
        return {"version": SLOT_VERSION, **self._asdict()}


def new_slot_name(random_bytes: Callable[[int], bytes]) -> str:
    """Return a name that no worktree has."""
    return SLOT_PREFIX + new_task_id(random_bytes)


def is_slot(name: str) -> bool:
    """Tell whether a worktree of the repository is one of a pool, by git's name for it."""
    return name.startswith(SLOT_PREFIX) and is_id(name)


class SlotBooks:
    """The documents of one project's pool."""

    def __init__(self, layout: ForkLayout) -> None:
        self._layout = layout

    def prepare(self) -> None:
        """Make the directories of the pool; safe to repeat."""
        layout = self._layout
        for directory in (
            layout.free_dir,
            layout.used_dir,
            layout.locks_dir,
            layout.workspaces_dir,
            layout.tasks_dir,
        ):
            if not directory.is_dir():
                make_dirs(directory)

    def lock(self, name: str) -> FileLock:
        return FileLock(self._layout.lock(name))

    def free(self) -> list[Slot]:
        """Return the worktrees that wait, in no particular order."""
        return list(self._all(free=True))

    def used(self) -> list[Slot]:
        """Return the worktrees that are used, or that were when their user died."""
        return list(self._all(free=False))

    def is_free(self, name: str) -> Slot | None:
        """Return the worktree if it waits. The caller holds its lock."""
        return None if self.is_used(name) else self._read(name, free=True)

    def is_used(self, name: str) -> Slot | None:
        """Return the worktree if it is used."""
        return self._read(name, free=False)

    def use(self, slot: Slot) -> None:
        """Enter a worktree as used by `slot.owner`. The caller holds its lock."""
        write_document(self._path(slot.name, free=False), slot.record())
        with suppress(FileNotFoundError):
            # A power cut may bring it back: then the other one counts.
            os.unlink(self._path(slot.name, free=True))

    def put_back(self, slot: Slot) -> None:
        """Enter a worktree as one that waits, in this state. The caller holds its lock."""
        write_document(self._path(slot.name, free=True), slot._replace(owner="").record())
        remove_file(self._path(slot.name, free=False))

    def forget(self, name: str) -> None:
        """Remove a worktree from the books. The caller holds its lock."""
        remove_file(self._path(name, free=True))
        remove_file(self._path(name, free=False))

    def _all(self, *, free: bool) -> Iterator[Slot]:
        directory = self._layout.free_dir if free else self._layout.used_dir
        for name in listed_ids(directory, suffix=_SUFFIX, is_name=is_slot):
            found = self._read(name, free=free)
            if found is not None:
                yield found

    def _read(self, name: str, *, free: bool) -> Slot | None:
        """Return what the books say; a damaged document says that nothing is known of the state."""
        try:
            record = read_document_or_none(
                self._path(name, free=free), what="worktree of the pool", version=SLOT_VERSION
            )
            return None if record is None else Slot.from_record(record)
        except (UnreadableFile, KeyError, ValueError, TypeError):
            return Slot(name=name, git_dir="", device=0, inode=0, base=Sha(""))

    def _path(self, name: str, *, free: bool) -> Path:
        directory = self._layout.free_dir if free else self._layout.used_dir
        return directory / checked_name(name + _SUFFIX)
