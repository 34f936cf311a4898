"""Give a task the workspace of another task, with all that is in it.

The steps stay with the task that made them: its last state is recorded first, and `task reopen`
brings it back in a new workspace. The other task begins with the workspace's present state as its
base, on a branch of its own, so that neither task's commits come onto the other one's branch.
"""

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from siding.ground.errors import NotFound, UsageError
from siding.ground.ids import Sha, TaskId
from siding.ground.namedtuples import NamedTuple
from siding.record.ledger.step import Step
from siding.record.moving.model import CheckoutPlace
from siding.record.moving.move import refuse_busy
from siding.record.place.events import TaskChanged
from siding.record.place.locks import Hold, holding_git, holding_task
from siding.record.place.named_task import resolve
from siding.record.place.project import Project
from siding.record.place.selection import select
from siding.record.place.take_over import base_seed
from siding.record.place.task_workspace import require_workspace, workspace_of
from siding.record.place.terminal_task import make_current
from siding.record.recording.line_base import line_base
from siding.record.recording.opening import open_recorder
from siding.record.snapshots.seeding import add_task, pin
from siding.record.tasks.registry import BRANCH_MADE, Workspace
from siding.record.tasks.task import Task, TaskState, WorkspaceState
from siding.record.traps.marks import carry_mark
from siding.record.workspaces.attempts import Attempt, payload_of
from siding.record.workspaces.binding import BIND, carry_over, undo_binding
from siding.record.workspaces.recovery import recover_cut_off, recover_if_cut_off
from siding.record.worktrees.branches import begin_branch
from siding.tasks.adopt_worktree import base_snapshot_of
from siding.tasks.changes import refuse_blocked
from siding.tasks.start import StartRequest, check_name, put_on_board


class BindRequest(NamedTuple):
    """The options of ``siding worktree bind``.

    `worktree` is a name, branch or path of a workspace, or a task; by default the one here. With
    `with_work` the task takes over the base, too, so that the work done so far is its own.
    """

    task: str
    worktree: str | None = None
    with_work: bool = False
    switch: bool = True
    force: bool = False  # also for a task that waits for another one


class Bound(NamedTuple):
    """A workspace that went from one task to another. `taken` is the step with the work so far."""

    task: Task
    workspace: Workspace
    giver: Task
    taken: Step | None
    switched: bool


def bind_workspace(project: Project, request: BindRequest) -> Bound:
    """Give a workspace to another task.

    Raises UsageError if the task has a workspace or is closed, NotFound for an unknown workspace,
    and CheckoutBusy if git is in the middle of a merge or the like there. After an error the
    workspace is its old task's, as before.
    """
    asked = {"name": request.worktree or ""}
    with Attempt(project, "worktree.bind", worktree=asked) as attempt:
        recover_cut_off(project)
        taker = resolve(project, request.task)
        attempt.about(taker)
        giver = _giver(project, request.worktree)
        _refuse(project, giver, taker, request)
        with ExitStack() as stack:
            holds = {
                task_id: stack.enter_context(holding_task(project, task_id, "binding a workspace"))
                for task_id in sorted((giver.id, taker.id))
            }
            for task_id in holds:
                recover_if_cut_off(project, task_id)
            bound = _bind(project, giver.id, taker.id, request, holds, attempt)
    project.events.emit(TaskChanged(bound.giver, "updated"))
    return bound


def unbind_workspace(project: Project, named: str | None, *, name: str | None = None) -> Bound:
    """Leave a task's workspace to a new task, which is called `name`, or else as the worktree is.

    Raises NoWorkspace, UsageError for an invalid name, and CheckoutBusy, with nothing changed. If
    it fails later, the task has its workspace as before, and the new one stays on the board.
    """
    recover_cut_off(project)
    giver = select(project, named)
    workspace = require_workspace(project, giver)
    refuse_busy(project.repository, CheckoutPlace(Path(workspace.path), Path(workspace.git_dir)))
    called = check_name(project, name or workspace.name)
    taker = put_on_board(project, StartRequest(name=called, workspace=False), giver.base_ref)
    return bind_workspace(project, BindRequest(task=taker.id, worktree=giver.id, switch=False))


def _bind(
    project: Project,
    giver_id: TaskId,
    taker_id: TaskId,
    request: BindRequest,
    holds: Mapping[TaskId, Hold],
    attempt: Attempt,
) -> Bound:
    """Do it. The caller holds the locks of both tasks."""
    giver, taker = project.tasks.load(giver_id), project.tasks.load(taker_id)
    _refuse(project, giver, taker, request)
    taker = _carry(project, giver, taker, request, holds[giver.id], attempt)
    recorder = open_recorder(project, taker, holds[taker.id])  # takes the base snapshot
    taken = None
    if request.with_work:
        taken = recorder.checkpoint(f"taken along from task {giver.id}", origin="bound")
    elif recorder.anchor.is_changing():
        # It had a workspace before: a line of its ledger says which base it has from now on.
        recorder.checkpoint(f"given the workspace of task {giver.id}", origin="bound")
    if request.switch:
        with project.changing(f"switching to task {taker.id}"):
            make_current(project, taker.id)
    giver = project.tasks.load(giver.id)
    return Bound(taker, recorder.workspace, giver, taken, request.switch)


def _carry(
    project: Project,
    giver: Task,
    taker: Task,
    request: BindRequest,
    hold: Hold,
    attempt: Attempt,
) -> Task:
    """Record the giver's last state, make the branch, and carry the workspace over."""
    recorder = open_recorder(project, giver, hold)
    old = recorder.workspace
    refuse_busy(project.repository, CheckoutPlace(Path(old.path), Path(old.git_dir)))
    recorder.settle()
    recorder.checkpoint(f"the workspace goes to task {taker.id}", origin="bound")
    branch = _free_branch(project, taker)
    attempt.begin(taker.id, {**payload_of(old), "from": giver.id})
    now = project.app.now()
    intent = {"op": BIND, "to": taker.id, "branch": branch, "at": now, "pid": project.app.pid}
    old = old._replace(intent=intent)
    with project.changing(f"binding a workspace to task {taker.id}"):
        project.registry.put(old)
    try:
        with holding_git(project, f"binding a workspace to task {taker.id}"):
            reason = f"siding: the workspace goes to task {taker.id}"
            head = begin_branch(project.repository, Path(old.git_dir), branch, reason=reason)
            pin(project.git, project.paths, head)
        base = line_base(project, old).commit if request.with_work else head
        made = old._replace(
            task_id=taker.id,
            branch=branch,
            status=WorkspaceState.ACTIVE,
            created_at=now,
            kept_at=None,
            base_commit=base,
            base_snapshot=Sha(""),
            rest={BRANCH_MADE: True} if old.adopted else {},
        )
        made = _seeded(project, made, request)
        carry_mark(project, giver.id, taker.id, line_base(project, old).snapshot)
        task = carry_over(project, old._replace(intent=None), made, giver.base_ref)
    except BaseException:
        current = project.registry.of_task(giver.id)
        if current is not None and current.intent:
            undo_binding(project, current)
        raise
    attempt.end(taker.id, {**payload_of(made), "from": giver.id}, task)
    return task


def _seeded(project: Project, made: Workspace, request: BindRequest) -> Workspace:
    """Begin the taker's snapshots; its base is the present state unless it takes the work along."""
    if request.with_work:
        return made._replace(base_snapshot=base_snapshot_of(project, made))
    seed = base_seed(project, made.task_id, made.base_commit, Path(made.path), Path(made.git_dir))
    add_task(project.snapshots, seed)
    return made


def _giver(project: Project, named: str | None) -> Task:
    """Return the task whose workspace is meant."""
    if named is None:
        return select(project, None)
    entry = project.registry.named(named)
    if entry is not None and entry.status in (WorkspaceState.ACTIVE, WorkspaceState.KEPT):
        return project.tasks.load(entry.task_id)
    place = project.app.cwd / named
    owner = project.task_around(place) if place.is_dir() else None
    if owner is not None:
        return project.tasks.load(owner)
    try:
        return resolve(project, named)
    except NotFound:
        raise NotFound(
            f"there is no workspace {named!r}",
            hint="`siding worktree list` shows them; a worktree that is in no task yet is taken "
            f"with `siding worktree adopt {named} --task TASK`",
        ) from None


def _refuse(project: Project, giver: Task, taker: Task, request: BindRequest) -> None:
    if giver.id == taker.id and request.worktree is None:
        raise UsageError(
            f"which workspace? {taker.name!r} is the task here, and cannot give itself one",
            hint="--worktree NAME says it: a task, a branch or a path (`siding worktree list`)",
        )
    if giver.id == taker.id:
        raise UsageError(f"the workspace is that of task {taker.name!r} already")
    require_workspace(project, giver)
    if taker.status is TaskState.CLOSED:
        raise UsageError(
            f"task {taker.name!r} is closed", hint=f"`siding task reopen {taker.id}` opens it"
        )
    if not request.force:
        refuse_blocked(project, taker, "starting it")
    there = workspace_of(project, taker)
    if there is not None and there.status is not WorkspaceState.REMOVED:
        raise UsageError(
            f"task {taker.name!r} has a workspace already: {there.path!r}",
            hint=f"`siding worktree unbind {taker.id}` leaves that one to a new task first, "
            f"`siding worktree remove {taker.id}` moves it away",
        )
    if there is not None and request.with_work:
        raise UsageError(
            f"task {taker.name!r} had a workspace before, and keeps the base that it had then",
            hint="leave out --with-work, or take a new task",
        )


def _free_branch(project: Project, taker: Task) -> str:
    """Return the name of the branch that the taker gets: its own, unless that is there already."""
    usual = taker.branch or project.branch_for(taker.name, taker.id)
    number, branch = 1, usual
    while project.repository.branch(branch) is not None:
        number += 1
        branch = f"{usual}-{number}"
    return branch
