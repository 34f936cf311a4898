"""What was committed inside a sandbox becomes the repository's, after the run."""

from siding.app.locking import holding_git
from siding.app.project import Project
from siding.errors import SidingError
from siding.git.quarantine import Prepared, Taken, leftover, take_over
from siding.storage.layout import TaskLayout


def take_over_commits(project: Project, prepared: Prepared) -> Taken:
    """Take over what the run committed. Never raises for what the run left: it is said, kept in
    the quarantine, and tried again before the task's next sandboxed run."""
    try:
        with holding_git(project, "taking over commits of a sandbox"):
            return take_over(project.repository, prepared)
    except (SidingError, OSError) as error:
        return Taken(branches=(), refused=(f"commits were not taken over: {error}",))


def take_over_leftover(project: Project, task: TaskLayout) -> tuple[str, ...]:
    """Take over what a run that was cut off committed; return what to tell about it."""
    left = leftover(task.root / "sandbox")
    if left is None:
        return ()
    taken = take_over_commits(project, left)
    moved = tuple(f"branch {name!r} has what a cut-off run committed" for name in taken.branches)
    return (*moved, *taken.refused)
