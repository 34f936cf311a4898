"""The status of a task."""

from pathlib import Path
from typing import TYPE_CHECKING

from siding.ground.errors import SidingError, UnreadableFile
from siding.ground.git.errors import CommandFailed, GitError
from siding.ground.git.refs import check_ref_part, read_ref
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.locks import FileLock, Holder
from siding.record.ledger.step import Step
from siding.record.place.project import Project
from siding.record.place.selection import select
from siding.record.place.task_workspace import workspace_of
from siding.record.recording.line_base import line_base
from siding.record.recording.missing_steps import InProgress, in_progress, ledger_problems
from siding.record.recording.snapshots import TaskSnapshots
from siding.record.runs.store import Runs
from siding.record.tasks.ports import ports_of
from siding.record.tasks.registry import Workspace
from siding.record.tasks.task import Task, WorkspaceState

if TYPE_CHECKING:
    from siding.record.unfinished.left_running import StillThere

__all__ = ["TaskStatus", "status"]


class TaskStatus(NamedTuple):
    """The status of a task: its last step, its workspace, and what is in progress or damaged."""

    task: Task
    workspace: Workspace | None
    base: Sha  # the commit that the task's change is counted from; "" if unknown
    is_behind: bool  # the branch that the task started from is elsewhere now
    present: bool  # the workspace's directory exists
    steps: int
    last: Step | None
    in_progress: tuple[InProgress, ...]  # those that were cut off first, each kind oldest first
    unrecorded: int | None  # the number of files changed since the last step; None if unknown
    holder: Holder | None  # the process that holds the task's lock
    problems: tuple[str, ...] = ()  # sentences about what is lost or damaged
    ports: range = range(0)  # the task's own; none before its first run
    left: "tuple[StillThere, ...]" = ()  # what runs that have ended left running
    untold: str = ""  # why git cannot say what changed since the last step; "" if it can


def status(project: Project, named: str | None) -> TaskStatus:
    """Return the status of a task; write nothing."""
    task = select(project, named)
    workspace = workspace_of(project, task)
    present = (
        workspace is not None
        and workspace.status in (WorkspaceState.ACTIVE, WorkspaceState.KEPT)
        and Path(workspace.path).is_dir()
    )
    base = task.base_commit if workspace is None else line_base(project, workspace).commit
    last = project.ledger(task.id).last()
    lock = FileLock(project.task_layout(task.id).lock)
    holder = lock.holder() if lock.is_locked() else None
    unrecorded, untold = None, ""
    problems = list(ledger_problems(project, task))
    if present and workspace is not None and workspace.base_snapshot:
        try:
            unrecorded = TaskSnapshots(project, workspace).changed_count()
        except CommandFailed as error:  # git's index was damaged, say: the next step makes it again
            untold = error.message
        except SidingError as error:
            problems.append(f"{error.message}; {error.hint}" if error.hint else error.message)
    ports = range(0)
    try:
        ports = ports_of(project.app.home, project.layout, task.id)
    except UnreadableFile as error:
        problems.append(f"{error.message}; {error.hint}")
    return TaskStatus(
        task=task,
        workspace=workspace,
        base=base,
        is_behind=present and _has_moved(project, task, base),
        present=present,
        steps=_count(project, task, last),
        last=last,
        in_progress=tuple(in_progress(project, task)),
        unrecorded=unrecorded,
        holder=holder,
        problems=tuple(problems),
        ports=ports,
        left=tuple(_left_in(project, task)),
        untold=untold,
    )


def _count(project: Project, task: Task, last: Step | None) -> int:
    """Return how many steps a task has; another tool may have begun again with their numbers."""
    if last is None:
        return 0
    if last.is_chained:
        return last.number
    return sum(1 for _step in project.ledger(task.id).steps())


def _has_moved(project: Project, task: Task, base: Sha) -> bool:
    """Tell whether the branch that the task started from is not where the task knows it.

    Reads one file: counting the commits would start git in each `siding status`.
    """
    try:
        at = _tip_of(project, task.base_ref.removeprefix("refs/heads/"))
    except GitError:  # it started from a tag or a commit
        return False
    return bool(base) and at is not None and at != base


def _tip_of(project: Project, branch: str) -> Sha | None:
    if project.paths.ref_format != "files":
        return project.repository.branch(branch)
    return read_ref(project.paths.common_dir, f"refs/heads/{check_ref_part(branch)}")


def _left_in(project: Project, task: Task) -> "list[StillThere]":
    """Return what runs that have ended left running; most leave nothing."""
    if not Runs(project.task_layout(task.id)).has_left():
        return []
    from siding.record.unfinished.left_running import left_in

    return left_in(project, task.id)
