"""Take away forks that nobody needs any more, and what killed processes have left half-made.

A fork goes by itself if its workspace is as it was forked, or if what it has changed was brought
back. One that differs stays, with its workspace, until somebody drops it, keeps it or brings it
back. Forks that a process works with, or in which a run lives, are left alone.

`free_fork_trash` deletes what forks and views have left in the trash (worktrees that could not
serve another fork, and ignored files that were moved out of those that could), and the records of
forks without a parent. What was in a fork was recorded before, but for what no snapshot holds.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from siding.forks.parentage import Parentage, forks_of
from siding.forks.pool import throw_away
from siding.forks.returning import Dropped, give_up
from siding.forks.views import remove_view
from siding.ground.errors import SidingError
from siding.ground.files.stale import remove_if_stale, stale_temporaries
from siding.ground.ids import FORK_PREFIX, TASK_ID_LENGTH, TaskId, is_fork
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.locks import FileLock, LockBusy
from siding.record.place.locks import holding_task
from siding.record.place.project import Project
from siding.record.recording.opening import open_recorder
from siding.record.snapshots.store import remove_tree
from siding.record.snapshots.store_upkeep import remove_task
from siding.record.tasks.slots import (
    SLOT_PREFIX,
    VIEW_PREFIX,
    Slot,
    SlotBooks,
    ViewPlace,
    is_slot,
    is_view,
)
from siding.record.tasks.task import Task, TaskBusy, TaskState, WorkspaceState


class Swept(NamedTuple):
    """What a sweep did. `differ` are forks that stay, because they have changes of their own;
    `busy` are worked with; `half_made` counts worktrees that were left half-made."""

    dropped: tuple[TaskId, ...] = ()
    differ: tuple[TaskId, ...] = ()
    busy: tuple[TaskId, ...] = ()
    half_made: int = 0
    views: int = 0


def sweep(project: Project, *, parent: TaskId | None = None, group: str | None = None) -> Swept:
    """Sweep the forks of a parent or a group, or all; then mend the pool and make it small again.

    Any number of processes may sweep at once, beside others that fork.
    """
    dropped: list[TaskId] = []
    differ: list[TaskId] = []
    busy: list[TaskId] = []
    for task in forks_of(project, parent=parent, group=group):
        if task.status is TaskState.CLOSED:
            continue
        try:
            gone = _sweep_one(project, task)
        except (TaskBusy, LockBusy):
            busy.append(task.id)
            continue
        except SidingError as error:
            project.app.warn(f"{task.id} was not swept: {error.message}")
            continue
        (differ if gone is None else dropped).append(task.id)
    views = sweep_views(project)
    half_made = mend(project)
    trim(project, project.settings.forks_pool)
    return Swept(tuple(dropped), tuple(differ), tuple(busy), half_made, views)


def _sweep_one(project: Project, task: Task) -> Dropped | None:
    """Drop the fork if nothing of its own is in it; None if it differs."""
    layout = project.task_layout(task.id)
    with FileLock(layout.lease).acquire(timeout_s=0):
        if _differs(project, task):
            return None
        return give_up(project, task)


def _differs(project: Project, task: Task) -> bool:
    parentage = Parentage.of(task)
    workspace = project.registry.of_task(task.id)
    if parentage is None or workspace is None or workspace.status is WorkspaceState.REMOVED:
        return False
    with holding_task(project, task.id, f"sweeping {task.id}") as hold:
        recorder = open_recorder(project, task, hold)
        recorder.settle()
        return recorder.seen.snapshot not in (parentage.base, parentage.applied)


def sweep_views(project: Project) -> int:
    """Remove the views that nobody reads; return how many."""
    removed = 0
    for place in _views(project):
        try:
            with place.lock().acquire(timeout_s=0):
                if place.readers():
                    continue
                remove_view(project, place)
                removed += 1
        except LockBusy:
            continue
    return removed


def _views(project: Project) -> list[ViewPlace]:
    directory = project.layout.forks.views_dir
    try:
        names = sorted(name for name in os.listdir(directory) if is_view(name))
    except FileNotFoundError:
        return []
    return [ViewPlace(directory / name) for name in names]


def half_made(project: Project) -> dict[str, str]:
    """Return the worktrees that killed processes left half-made, with the owners they were for.

    One that is being made, taken or returned in this moment is not among them.
    """
    books = SlotBooks(project.layout.forks)
    used = books.used()
    known = {slot.name for slot in (*used, *books.free())}
    found = {slot.name: slot.owner for slot in used if not _has(project, slot)}
    # Its books may be younger than its first directory: then only the lock tells of it.
    found |= {name: "" for name in _with_lock(project) if name not in known}
    return {name: owner for name, owner in found.items() if not books.lock(name).is_locked()}


def mend(project: Project) -> int:
    """Throw away worktrees that killed processes left half-made; return how many."""
    books = SlotBooks(project.layout.forks)
    names = half_made(project)
    forks = project.layout.forks
    for directory in (forks.free_dir, forks.used_dir):
        for path in stale_temporaries(directory):
            remove_if_stale(path)
    thrown = 0
    for name, owner in sorted(names.items()):
        lock = books.lock(name)
        try:
            lock.acquire(timeout_s=0)
        except LockBusy:
            continue  # it is being made, taken or returned in this moment
        try:
            slot = books.is_used(name)
            if slot is not None and _has(project, slot):
                continue
            if slot is None and books.is_free(name) is not None:
                continue
            known_owner = TaskId(owner) if is_fork(owner) else None
            thrown += throw_away(project, books, name, owner=known_owner) is not None
        finally:
            lock.release()
            lock.path.unlink(missing_ok=True)
    return thrown


def _has(project: Project, slot: Slot) -> bool:
    """Tell whether the owner of a used worktree has it."""
    if is_view(slot.owner):
        document = ViewPlace(project.layout.forks.view(slot.owner)).read()
        return document is not None and document.slot == slot.name
    if not is_fork(slot.owner):
        return False
    workspace = project.registry.of_task(TaskId(slot.owner))
    if workspace is None or not project.task_layout(TaskId(slot.owner)).task_json.exists():
        return False
    return (
        workspace.status is not WorkspaceState.REMOVED and workspace.rest.get("slot") == slot.name
    )


def _with_lock(project: Project) -> list[str]:
    try:
        return [name for name in os.listdir(project.layout.forks.locks_dir) if is_slot(name)]
    except FileNotFoundError:
        return []


def trim(project: Project, keep: int) -> int:
    """Throw away worktrees that wait, but for `keep` of them; return how many."""
    books = SlotBooks(project.layout.forks)
    thrown = 0
    for slot in books.free()[keep:]:
        lock = books.lock(slot.name)
        try:
            lock.acquire(timeout_s=0)
        except LockBusy:
            continue
        try:
            if books.is_free(slot.name) is not None:
                throw_away(project, books, slot.name)
                thrown += 1
        finally:
            lock.release()
            lock.path.unlink(missing_ok=True)
    return thrown


def fork_trash(project: Project, older_s: float | None = None) -> list[Path]:
    """Return the places in the trash that can go; with `older_s`, those that old in seconds."""
    return [place for place in _places(project) if _may_go(project, place, older_s)]


def free_fork_trash(
    project: Project, older_s: float | None = None, *, dry_run: bool = False
) -> int:
    """Delete these places, and the records of closed forks whose parent is deleted.

    Returns the bytes of the places; with `dry_run` nothing is deleted.
    """
    places = fork_trash(project, older_s)
    taken = sum(_size(place) for place in places)
    if dry_run:
        return taken
    for place in places:
        remove_tree(place)
    for task_id in _orphans(project):
        remove_tree(project.task_layout(task_id).root)
        remove_task(project.snapshots, task_id)
    return taken


def _size(place: Path) -> int:
    """Return the bytes on disk below a directory."""
    found = 0
    for _directory, _names, files, fd in os.fwalk(place):
        found += sum(os.lstat(name, dir_fd=fd).st_blocks * 512 for name in files)
    return found


def _places(project: Project) -> Iterator[Path]:
    try:
        names = sorted(os.listdir(project.layout.trash_dir))
    except FileNotFoundError:
        return
    for name in names:
        if name.startswith((SLOT_PREFIX, FORK_PREFIX, VIEW_PREFIX)):
            yield project.layout.trash_dir / name


def _may_go(project: Project, place: Path, older_s: float | None) -> bool:
    owner = place.name[: len(FORK_PREFIX) + TASK_ID_LENGTH]
    if is_fork(owner) and _is_open(project, TaskId(owner)):
        return False
    if older_s is None:
        return True
    try:
        return project.app.clock.now().timestamp() - place.lstat().st_mtime > older_s
    except OSError:
        return False


def _is_open(project: Project, task_id: TaskId) -> bool:
    try:
        return project.tasks.load(task_id).status is not TaskState.CLOSED
    except (SidingError, OSError):
        return project.task_layout(task_id).task_json.exists()  # damaged: not ours to judge


def _orphans(project: Project) -> list[TaskId]:
    found = []
    known = {*project.tasks.ids(), *project.tasks.fork_ids()}
    for task_id in project.tasks.fork_ids():
        try:
            task = project.tasks.load(task_id)
        except SidingError:
            continue
        record = task.rest.get("fork")
        parent = record.get("parent") if isinstance(record, dict) else None
        if task.status is TaskState.CLOSED and parent not in known:
            found.append(task_id)
    return found
