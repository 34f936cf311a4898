"""What was committed inside a sandbox becomes the repository's, after the run."""

from typing import TYPE_CHECKING

from siding.app.locking import holding_git
from siding.errors import SidingError
from siding.git.quarantine import Prepared, Taken, leftover, take_over

if TYPE_CHECKING:
    from siding.app.recording import Recorder


def take_over_commits(recorder: "Recorder", prepared: Prepared) -> Taken:
    """Take over what the run committed. Never raises for what the run left: it is said, kept in
    the quarantine, and tried again before the task's next sandboxed run."""
    return _take(recorder, prepared)


def take_over_leftover(recorder: "Recorder") -> tuple[str, ...]:
    """Take over what a run that was cut off committed; return what to tell about it."""
    left = leftover(recorder.layout.root / "sandbox")
    if left is None:
        return ()
    taken = _take(recorder, left)
    moved = tuple(f"branch {name!r} has what a cut-off run committed" for name in taken.branches)
    return (*moved, *taken.refused)


def _take(recorder: "Recorder", prepared: Prepared) -> Taken:
    repository = recorder.project.repository
    try:
        with holding_git(recorder.project, "taking over commits of a sandbox"):
            return take_over(repository, prepared)
    except (SidingError, OSError) as error:
        return Taken(branches=(), refused=(f"commits were not taken over: {error}",))
