"""What was committed inside a sandbox becomes the repository's, after the run."""

from collections.abc import Iterator
from pathlib import Path

from siding.app.place.locking import TaskBusy, holding_git, holding_task
from siding.app.place.project import Project
from siding.errors import SidingError
from siding.files.regular import read_bytes
from siding.git.quarantine.objects import discard
from siding.git.quarantine.run import REFUSED, WHY, PreparedQuarantine, leftover, set_aside
from siding.git.quarantine.takeover import Taken, take_over
from siding.ids import TaskId
from siding.storage.layout import TaskLayout
from siding.tasks.registry import Workspace


def take_over_commits(
    project: Project, prepared: PreparedQuarantine, workspace: Workspace
) -> Taken:
    """Take over what the run committed. Never raises for what the run left: it is said, kept in
    the quarantine, and tried again before the task's next sandboxed run."""
    try:
        with holding_git(project, "taking over commits of a sandbox"):
            return take_over(project.repository, prepared, Path(workspace.git_dir))
    except (SidingError, OSError) as error:
        said = f"commits were not taken over: {error}; the next sandboxed run tries again"
        return Taken(branches=(), refused=(said,))


def take_over_leftover(project: Project, task: TaskLayout, workspace: Workspace) -> tuple[str, ...]:
    """Take over what a run that was cut off committed; return what to tell about it."""
    left = leftover(quarantine_of(task))
    if left is None:
        return ()
    taken = take_over_commits(project, left, workspace)
    moved = tuple(f"branch {name!r} has what a cut-off run committed" for name in taken.branches)
    return (*moved, *taken.refused)


def make_way(project: Project, task: TaskLayout, workspace: Workspace) -> tuple[str, ...]:
    """Take over what a cut-off run left, or set it aside: it must not keep the next from running.

    Returns what to tell about it.
    """
    said = take_over_leftover(project, task, workspace)
    root = quarantine_of(task)
    if leftover(root) is None:
        return said
    kept = set_aside(root, list(said))
    return (*said, f"what it committed is kept in {str(kept)!r}, until `siding gc`")


def quarantine_of(task: TaskLayout) -> Path:
    """Return where a task's sandboxed runs write what git makes."""
    return task.root / "sandbox"


def refused_quarantines(project: Project) -> Iterator[tuple[TaskId, Path, str]]:
    """Yield what could not be taken over and is kept: whose it is, where, and why."""
    for task_id in project.tasks.ids():
        top = quarantine_of(project.task_layout(task_id)) / REFUSED
        for kept in sorted(top.iterdir()) if top.is_dir() else ():
            try:
                why = read_bytes(kept / WHY, limit=1 << 16).decode("utf-8", "replace")
            except FileNotFoundError:
                continue  # what an index and a log were before they were mended
            yield task_id, kept, "; ".join(why.splitlines())


def sweep_refused(project: Project) -> int:
    """Remove what could not be taken over, of every task that nobody works in; return how many."""
    count = 0
    for task_id in project.tasks.ids():
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
