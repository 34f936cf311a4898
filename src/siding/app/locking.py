"""One command at a time in a task's workspace; any number of tasks at once."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from siding.app.project import Project
from siding.errors import SidingError
from siding.ids import TaskId
from siding.storage.files import make_dirs
from siding.storage.locks import FileLock, Holder, LockBusy


class TaskBusy(SidingError):
    """Another command works in this task."""

    code = "task_busy"


@contextmanager
def holding_task(
    project: Project, task_id: TaskId, what: str, *, wait: bool = False
) -> Iterator[FileLock]:
    """Hold the task's lock; raise TaskBusy, saying who holds it since when, or wait for it.

    The kernel frees the lock when its holder dies; nobody ever steals it.
    """
    path = project.task_layout(task_id).lock
    make_dirs(path.parent)
    lock = FileLock(path)
    holder = Holder(pid=project.app.pid, since=project.app.now(), what=project.redaction.text(what))
    try:
        lock.acquire(timeout_s=None if wait else 0, holder=holder)
    except LockBusy as busy:
        raise TaskBusy(
            f"task {task_id} is busy: {describe(busy.holder)}",
            hint="wait for it with --wait, or work on another task",
        ) from None
    try:
        yield lock
    finally:
        lock.release()


@contextmanager
def holding_git(project: Project, what: str) -> Iterator[None]:
    """Hold the repository's lock: git's own worktree commands trip over each other."""
    make_dirs(project.layout.locks_dir)
    lock = FileLock(_git_lock(project))
    lock.acquire(
        timeout_s=None,
        holder=Holder(
            pid=project.app.pid, since=project.app.now(), what=project.redaction.text(what)
        ),
    )
    try:
        yield
    finally:
        lock.release()


def busy_with(project: Project, task_id: TaskId) -> str:
    """Return who works in the task now, as one phrase; "" when nobody does."""
    lock = FileLock(project.task_layout(task_id).lock)
    return describe(lock.holder()) if lock.is_locked() else ""


def describe(holder: Holder | None) -> str:
    """Return who holds a lock and since when, as one phrase."""
    if holder is None:
        return "another command holds it"
    return f"`{holder.what}` by process {holder.pid} since {holder.since}"


def _git_lock(project: Project) -> Path:
    return project.layout.lock("git")
