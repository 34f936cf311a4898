"""The document of a view: ``forks/views/<name>/view.json``, with a lock and the readers' leases.

A view is made, checked and thrown away under its lock. Each reader has a file in ``readers``, whose
lock it holds while it reads: a reader that dies frees it.
"""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from siding.ground.errors import UnreadableFile
from siding.ground.files.durable import make_dirs, remove_file
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.documents import read_document_or_none, write_document
from siding.ground.storage.layout import checked_name
from siding.ground.storage.locks import FileLock, Holder

VIEW_VERSION = 1
VIEW_PREFIX = "view-"
_LETTERS = 16  # of a snapshot's id: the name of its view


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
