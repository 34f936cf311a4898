"""Find what a task's change is counted from: its base, or after a sync what that brought in.

It follows the line: a rollback to before the sync takes the base back, too.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from siding.ground.errors import SidingError
from siding.ground.files.regular import read_small
from siding.ground.git.errors import GitError
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.record.place.project import Project
from siding.record.tasks.registry import REBUILT, Workspace
from siding.record.tasks.task import Task

if TYPE_CHECKING:
    from siding.record.ledger.draft import Detail
    from siding.record.ledger.step import Step

_SYNCED = "synced"  # in the registry: the ledger has a sync, or an attempt at one


class LineBase(NamedTuple):
    """A commit of the base branch, and the snapshot that stands for it. Both are "" if unknown."""

    commit: Sha
    snapshot: Sha


def line_base(project: Project, workspace: Workspace, until: int | None = None) -> LineBase:
    """Return what the change on the line is counted from.

    With `until`, what it was counted from after the step of this number; 0 is the base.
    """
    own = LineBase(workspace.base_commit, workspace.base_snapshot)
    may_be_synced = workspace.rest.get(_SYNCED) or workspace.rest.get(REBUILT)
    if not may_be_synced or not workspace.base_snapshot:
        return own
    from siding.record.ledger.kinds import StepStatus
    from siding.record.ledger.present_line import present_line

    lost = workspace.lost_until
    steps: list[Step] = []
    for tail in project.ledger(workspace.task_id).growing_tails():
        steps = [step for step in tail.steps if until is None or step.number <= until]
        line = present_line(steps).line
        if any(step.syncs and step.number in line for step in steps):
            break
    for step in reversed(steps):
        if step.number in line and step.syncs and step.number > lost:
            merged = step.merged
            if not merged or step.status != StepStatus.COMPLETED:
                continue
            if until is not None or still_has(project, workspace, Sha(merged.commit)):
                return LineBase(Sha(merged.commit), Sha(merged.base))
    return own


def still_has(project: Project, workspace: Workspace, commit: Sha) -> bool:
    """Tell whether HEAD has a commit that a sync brought in, or is being merged with it.

    Whoever gave the merge up with git, or reset the branch, has taken it out again: then the task
    must not be compared with it, which would make a removal of it the task's own change.
    """
    git_dir = Path(workspace.git_dir)
    if not workspace.git_dir or not git_dir.is_dir():
        return True
    head = project.repository.head(git_dir).sha
    if head == commit or commit.encode() in (read_small(git_dir / "MERGE_HEAD", 4096) or b""):
        return True
    try:
        return head is not None and project.repository.is_ancestor(commit, head)
    except GitError:  # the commit is gone from the repository, and so from HEAD's history
        return False


def kept_by(detail: "Detail") -> tuple[Sha, ...]:
    """Return the snapshots that live as long as that of a step with this detail."""
    merged = getattr(detail, "merged", None)  # of a rollback; without loading all kinds of details
    return (Sha(merged.base),) if merged is not None and merged.base else ()


def note_sync(project: Project, workspace: Workspace) -> None:
    """Note in the registry that this task's base may have moved."""
    if workspace.rest.get(_SYNCED):
        return
    with project.changing(f"noting the sync of task {workspace.task_id}"):
        known = project.workspaces.of_task(workspace.task_id)
        if known is not None:
            project.registry.put(known._replace(rest={**known.rest, _SYNCED: True}))


def no_base(task: Task) -> SidingError:
    """Return the error for a workspace without a base snapshot, with the reason."""
    if not task.worktree:
        return SidingError(
            f"task {task.name!r} was begun by another tool, and nothing of its workspace is "
            "recorded here yet",
            hint="`siding checkpoint` records it as it is and takes the task over; what the other "
            "tool wrote stays as it is",
        )
    return SidingError(
        f"nothing of task {task.name!r} was recorded yet",
        hint="`siding checkpoint` records it as it stands; `siding doctor` says if something is "
        "lost",
    )
