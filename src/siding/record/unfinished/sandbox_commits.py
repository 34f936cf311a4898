"""Take the commits that were made inside a sandbox over into the repository.

That is done after the run, and while it lives whenever its workspace is recorded.
"""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from siding.ground.errors import SidingError
from siding.ground.files.regular import read_bytes
from siding.ground.ids import TaskId
from siding.ground.storage.layout import TaskLayout
from siding.ground.storage.locks import FileLock, LockBusy
from siding.record.place.locks import holding_git, holding_task
from siding.record.place.project import Project
from siding.record.quarantine.living import follow, hand_over, has_news, locks_in
from siding.record.quarantine.objects import discard
from siding.record.quarantine.run import (
    REFUSED,
    WHY,
    PreparedQuarantine,
    is_in_use,
    leftover,
    set_aside,
)
from siding.record.quarantine.takeover import Taken, take_over
from siding.record.tasks.registry import Workspace
from siding.record.tasks.task import TaskBusy


def take_over_commits(
    project: Project, prepared: PreparedQuarantine, workspace: Workspace
) -> Taken:
    """Take over the commits of a run.

    If that fails, nothing is raised: the result says why, the commits stay in the quarantine, and
    the next sandboxed run of the task tries again.
    """
    try:
        with holding_git(project, "taking over commits of a sandbox"):
            follow(prepared.root)  # if an act was killed before the copy followed it
            # Not what it was in the beginning: commits were handed over while the run lived.
            left = leftover(prepared.root) or prepared
            return take_over(project.repository, left, Path(workspace.git_dir))
    except (SidingError, OSError) as error:
        said = f"commits were not taken over: {error}; the next sandboxed run tries again"
        return Taken(branches=(), refused=(said,))


def living_quarantine(task: TaskLayout) -> PreparedQuarantine | None:
    """Return the quarantine in which a sandboxed run works that lives; None if there is none."""
    root = quarantine_of(task)
    if not is_in_use(root) or not quarantine_lock(task).is_locked():
        return None
    found = leftover(root)
    return None if found is None or found.place is None else found


def locks_of_living(task: TaskLayout) -> list[Path]:
    """Return the locks that git holds in the quarantine of a run that lives."""
    return [] if living_quarantine(task) is None else locks_in(quarantine_of(task))


def hand_over_living(project: Project, task: TaskLayout) -> tuple[str, ...]:
    """Take over what a sandboxed run that lives committed so far; return what could not be.

    The caller holds the task's lock. What fails is tried again at the run's end at the latest.
    """
    prepared = living_quarantine(task)
    if prepared is None or not has_news(prepared):
        return ()
    try:
        with holding_git(project, "taking over commits of a sandbox"):
            prepared = living_quarantine(task)  # the run may have ended meanwhile
            return () if prepared is None else hand_over(project.repository, prepared)
    except (SidingError, OSError) as error:
        return (str(error),)


def follow_in_sandbox(task: TaskLayout) -> None:
    """Bring a run's copy of the git directory to where an act led that was killed before it did."""
    with suppress(OSError):  # what stays in the copy as it was is said when it is taken over
        follow(quarantine_of(task))


def take_over_leftover(project: Project, task: TaskLayout, workspace: Workspace) -> tuple[str, ...]:
    """Take over the commits of a run that was cut off; return sentences about what was done.

    Nothing is done while a run that lives works in the quarantine.
    """
    try:
        lock = quarantine_lock(task).acquire(timeout_s=0)
    except LockBusy:
        return ()
    with lock:
        return _take_over_leftover(project, task, workspace)


def _take_over_leftover(
    project: Project, task: TaskLayout, workspace: Workspace
) -> tuple[str, ...]:
    left = leftover(quarantine_of(task))
    if left is None:
        return ()
    taken = take_over_commits(project, left, workspace)
    moved = tuple(f"branch {name!r} has what a cut-off run committed" for name in taken.branches)
    return (*moved, *taken.refused)


def make_way(project: Project, task: TaskLayout, workspace: Workspace) -> tuple[str, ...]:
    """Empty the quarantine for the next run: take over what a cut-off run left, or set it aside.

    Returns sentences about what was done. The caller holds the lock of the quarantine.
    """
    said = _take_over_leftover(project, task, workspace)
    root = quarantine_of(task)
    if leftover(root) is None:
        return said
    kept = set_aside(root, list(said))
    return (*said, f"what it committed is kept in {str(kept)!r}, until `siding gc`")


def quarantine_of(task: TaskLayout) -> Path:
    """Return the directory into which git writes objects and refs during sandboxed runs."""
    return task.sandbox_dir


def quarantine_lock(task: TaskLayout) -> FileLock:
    """Return the lock that a sandboxed run holds while it works in the quarantine of its task."""
    return FileLock(task.sandbox_lock)


def refused_quarantines(project: Project) -> Iterator[tuple[TaskId, Path, str]]:
    """Yield the quarantines that could not be taken over: the task, the directory, the reason."""
    for task_id in project.ids_at_work():
        top = quarantine_of(project.task_layout(task_id)) / REFUSED
        for kept in sorted(top.iterdir()) if top.is_dir() else ():
            try:
                why = read_bytes(kept / WHY, limit=1 << 16).decode("utf-8", "replace")
            except FileNotFoundError:
                continue  # a copy of an index or a log from before its repair, not a quarantine
            yield task_id, kept, "; ".join(why.splitlines())


def sweep_refused(project: Project) -> int:
    """Remove the quarantines that could not be taken over; return how many.

    Tasks in which a command works are skipped.
    """
    count = 0
    for task_id in project.ids_at_work():
        top = quarantine_of(project.task_layout(task_id)) / REFUSED
        if not top.is_dir():
            continue
        try:
            with holding_task(project, task_id, "gc"):
                count += len(list(top.iterdir()))
                discard(top)
        except TaskBusy:
            continue
    return count
