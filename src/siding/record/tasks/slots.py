"""The books of the pool: a document for each worktree that forks and views use, one for each view.

A worktree that waits has its document in ``forks/free``, one that is used in ``forks/used``.
Whoever makes, takes or returns a worktree holds its lock. If both documents are there, the one in
``used`` counts. A worktree in ``used`` whose lock is free and whose owner does not have it was left
half-made.

A view has the document ``forks/views/<name>/view.json``, and is made, checked and thrown away under
its lock. Each reader has a file in ``readers``, whose lock it holds while it reads: a reader that
dies frees it.
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
from siding.ground.storage.locks import FileLock, Holder

SLOT_VERSION = 1
SLOT_PREFIX = "slot-"
_SUFFIX = ".json"
VIEW_VERSION = 1
VIEW_PREFIX = "view-"
_LETTERS = 16  # of a snapshot's id: the name of its view


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


class ViewDocument(NamedTuple):
    """What a view holds: the state `of` (a snapshot), in the worktree `slot`.

    `snapshot` is the view as it was made, with nothing writable, and `coverage` what that lacks: a
    check compares with these. `written` are the paths that somebody wrote, `readers` who it may
    have been; a view with any is not given to new readers.
    """

    of: Sha
    slot: str
    snapshot: Sha
    coverage: Mapping[str, Any]
    base: Sha
    git_dir: str
    device: int
    inode: int
    written: tuple[str, ...] = ()
    readers: tuple[str, ...] = ()

    @property
    def is_spoiled(self) -> bool:
        return bool(self.written)


class ViewPlace:
    """The directory of a view."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @property
    def name(self) -> str:
        return self.root.name

    def lock(self) -> FileLock:
        """Return the view's lock; the directory is made for it."""
        make_dirs(self.root / "readers")
        return FileLock(self.root / "lock")

    def read(self) -> ViewDocument | None:
        """Return the document; None if there is no whole view."""
        try:
            record = read_document_or_none(self._path, what="view", version=VIEW_VERSION)
            if record is None:
                return None
            fields = {name: record[name] for name in ViewDocument._fields if name in record}
            found = ViewDocument(**fields)
        except (UnreadableFile, TypeError):
            return None
        return found._replace(written=tuple(found.written), readers=tuple(found.readers))

    def write(self, document: ViewDocument) -> None:
        """Store the document. The caller holds the view's lock."""
        record = document._asdict()
        lists = {"written": list(document.written), "readers": list(document.readers)}
        write_document(self._path, {"version": VIEW_VERSION, **record, **lists})

    def forget(self) -> None:
        """Remove the document: there is no view any more. The caller holds its lock."""
        remove_file(self._path)

    def new_reader(self, random_bytes: Callable[[int], bytes], holder: Holder) -> FileLock:
        """Return the lease of a new reader, which is held. The caller holds the view's lock."""
        return FileLock(self.root / "readers" / random_bytes(8).hex()).acquire(holder=holder)

    def readers(self) -> list[Holder]:
        """Return who reads now; leases of dead readers are removed. The caller holds the lock."""
        found = []
        for name in os.listdir(self.root / "readers"):
            lock = FileLock(self.root / "readers" / checked_name(name))
            holder = lock.holder()
            if holder is not None:
                found.append(holder)
            elif not lock.is_locked():
                lock.path.unlink(missing_ok=True)
        return found

    @property
    def _path(self) -> Path:
        return self.root / "view.json"


def view_name(snapshot: Sha, generation: int = 0) -> str:
    """Return the name of the view of a state; a later `generation` if an earlier one is spoiled."""
    name = VIEW_PREFIX + snapshot[:_LETTERS]
    return f"{name}-{generation}" if generation else name


def is_view(name: str) -> bool:
    return name.startswith(VIEW_PREFIX)
