"""Views: one read-only checkout of a recorded state for all who read it.

A reader has the view until it returns it, or dies. What it returns is compared with the view as it
was made. If somebody wrote, the view is given to nobody any more, whoever had it is named, and it
goes into the trash when the last reader is gone.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from siding.forks.pool import Taken, Wanted, taken, throw_away
from siding.forks.state import ForkState, write_base
from siding.ground.git import refs
from siding.ground.git.paths import quote_path
from siding.ground.ids import Sha, TaskId
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.locks import FileLock, Holder
from siding.record.place.project import Project
from siding.record.recording.snapshots import TaskSnapshots
from siding.record.snapshots.capture import Capture
from siding.record.snapshots.coverage import Coverage
from siding.record.snapshots.store_upkeep import create_store, remove_task
from siding.record.tasks.registry import Workspace
from siding.record.tasks.slots import SlotBooks, ViewDocument, ViewPlace, view_name
from siding.record.tasks.task import WorkspaceState
from siding.record.workspaces.workspaces import sparse_as

_NAMED = 20  # paths


class Returned(NamedTuple):
    """What a reader has left behind: the paths that were written, and who had the view meanwhile.

    Both are empty if nobody wrote. With one reader, that one did.
    """

    written: tuple[str, ...] = ()
    readers: tuple[str, ...] = ()


class View:
    """A view that this process reads. Close it, or use `viewed`."""

    def __init__(self, project: Project, place: ViewPlace, lease: FileLock, reader: str) -> None:
        self._project = project
        self._place = place
        self._lease = lease
        self._reader = reader
        document = place.read()
        assert document is not None
        self.path: Path = project.layout.forks.workspace(document.slot)
        self.snapshot: Sha = document.of

    def close(self) -> Returned:
        """Return the view, after a check; safe to repeat."""
        if not self._lease.is_held:
            return Returned()
        project, place = self._project, self._place
        with place.lock().acquire(timeout_s=None):
            document = place.read()
            if document is not None and not document.is_spoiled:
                document = _checked(project, place, document)
            self._lease.release()
            self._lease.path.unlink(missing_ok=True)
            if document is None:
                return Returned()
            if document.is_spoiled and not place.readers():
                remove_view(project, place)
        return Returned(document.written, document.readers)


def view(project: Project, state: ForkState, *, reader: str = "") -> View:
    """Return the view of a state (see `recorded`), made if there is none.

    `reader` names who reads, to whom it is told if somebody writes. Any number of threads and
    processes may ask at once. Raises SnapshotDamaged if the state is not whole.
    """
    reader = reader or f"process {project.app.pid}"
    holder = Holder(pid=project.app.pid, since=project.app.now(), what=reader)
    for generation in count():
        place = ViewPlace(project.layout.forks.view(view_name(state.snapshot, generation)))
        with place.lock().acquire(timeout_s=None):
            document = place.read()
            if document is not None and document.is_spoiled:
                if place.readers():
                    continue
                remove_view(project, place)
                document = None
            if document is None or not _is_there(project, document):
                _make(project, place, state)
            lease = place.new_reader(project.app.random_bytes, holder)
            return View(project, place, lease, reader)
    raise AssertionError("there is always a next one")


@contextmanager
def viewed(project: Project, state: ForkState, *, reader: str = "") -> Iterator[View]:
    """Yield the view of a state, and return it after the block."""
    found = view(project, state, reader=reader)
    try:
        yield found
    finally:
        found.close()


def remove_view(project: Project, place: ViewPlace) -> None:
    """Move a view into the trash. The caller holds its lock, and knows that nobody reads it."""
    document = place.read()
    place.forget()
    if document is None:
        return
    books = SlotBooks(project.layout.forks)
    with books.lock(document.slot).acquire(timeout_s=None):
        throw_away(project, books, document.slot)
    remove_task(project.snapshots, TaskId(place.name))


def _is_there(project: Project, document: ViewDocument) -> bool:
    return project.layout.forks.workspace(document.slot).is_dir()


def _make(project: Project, place: ViewPlace, state: ForkState) -> None:
    owner = TaskId(place.name)
    create_store(project.snapshots)
    remove_task(project.snapshots, owner)  # of one that was half made
    wanted = Wanted(
        owner=owner, held=state.held, base=state.base, like=sparse_as(project, state.task)
    )
    with taken(project, wanted) as found:
        store = project.snapshots
        at = int(project.app.clock.now().timestamp())
        base = write_base(store, owner, state.held, state.base, found.git_dir, at=at)
        refs.write_ref(store.root, store.task(owner).ref, base)
        make_read_only(found.path)
        seen = _capture(project, owner, found)
        place.write(
            ViewDocument(
                of=state.snapshot,
                slot=found.slot.name,
                snapshot=seen.snapshot,
                coverage=seen.coverage.as_record(),
                base=state.base,
                git_dir=str(found.git_dir),
                device=found.slot.device,
                inode=found.slot.inode,
            )
        )


def _capture(project: Project, owner: TaskId, found: Taken) -> Capture:
    slot = found.slot
    document = ViewDocument(
        of=Sha(""),
        slot=slot.name,
        snapshot=Sha(""),
        coverage={},
        base=slot.base,
        git_dir=str(found.git_dir),
        device=slot.device,
        inode=slot.inode,
    )
    return _snapshots(project, owner, document).capture(step="view", kind="view")


def _snapshots(project: Project, owner: TaskId, document: ViewDocument) -> TaskSnapshots:
    entry = Workspace(
        name=document.slot,
        path=str(project.layout.forks.workspace(document.slot)),
        branch=f"{project.settings.branch_prefix}{owner}",
        task_id=owner,
        status=WorkspaceState.ACTIVE,
        created_at="",
        base_commit=document.base,
        git_dir=document.git_dir,
        device=document.device,
        inode=document.inode,
    )
    return TaskSnapshots(project, entry)


def _checked(project: Project, place: ViewPlace, document: ViewDocument) -> ViewDocument:
    """Compare the view with how it was made; enter what was written, and who it may have been."""
    snapshots = _snapshots(project, TaskId(place.name), document)
    seen = snapshots.capture(step="view", kind="view")
    before = Coverage.from_record(document.coverage)
    if seen.snapshot == document.snapshot and seen.coverage.as_record() == document.coverage:
        return document
    paths = {change.path for change in seen.changes}
    modes = snapshots.mode_changes(document.snapshot, seen.snapshot, seen.modes)
    paths |= {change.path for change in modes}
    for name in ("ignored", "skipped", "special", "nested", "empty_dirs"):
        old, new = (getattr(report, name) for report in (before, seen.coverage))
        paths |= {each if isinstance(each, bytes) else each.path for each in {*new} - {*old}}
    written = tuple(quote_path(path) for path in sorted(paths)[:_NAMED]) or ("(git's own state)",)
    readers = tuple(sorted({each.what for each in place.readers()}))
    document = document._replace(written=written, readers=readers)
    place.write(document)
    return document


_WRITE = 0o222


def make_read_only(root: Path) -> None:
    """Take it from all files and directories below, and from the root: 0555 and 0444 as a rule.

    Links are not followed. It is a hint outside of a sandbox: the owner can undo it, and root does
    not heed it. So what is read is checked afterwards.
    """
    for directory, _names, files, fd in os.fwalk(os.fsencode(root), topdown=False):
        for name in files:
            mode = os.lstat(name, dir_fd=fd).st_mode
            if stat.S_ISREG(mode) and mode & _WRITE:
                os.chmod(name, stat.S_IMODE(mode) & ~_WRITE, dir_fd=fd)
        mode = os.fstat(fd).st_mode
        if mode & _WRITE:
            os.fchmod(fd, stat.S_IMODE(mode) & ~_WRITE)
        del directory
