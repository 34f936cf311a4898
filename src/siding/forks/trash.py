"""Delete what forks and views have left in the trash, and the records of forks without a parent.

The trash has the worktrees that could not serve another fork, and the ignored files that were moved
out of those that could. What was in a fork was recorded before, but for what no snapshot holds.
Open forks are left alone.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from siding.ground.errors import SidingError
from siding.ground.ids import FORK_PREFIX, TASK_ID_LENGTH, TaskId, is_fork
from siding.record.place.project import Project
from siding.record.snapshots.store import remove_tree
from siding.record.snapshots.store_upkeep import remove_task
from siding.record.tasks.slots import SLOT_PREFIX, VIEW_PREFIX
from siding.record.tasks.task import TaskState


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
