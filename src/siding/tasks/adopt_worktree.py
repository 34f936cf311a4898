"""Adopt a worktree that somebody else made: it becomes a task's workspace where it is.

People have worktrees that `git worktree add` or an agent made. Such a worktree is not moved, and
its branch stays its branch. The task's base is the commit where the branch departed from the base
branch, so that everything done there since counts as the task's change. The state at the moment of
the adoption is the first step.
"""

import os
from pathlib import Path

from siding.ground.errors import UsageError
from siding.ground.files.durable import make_dirs
from siding.ground.git.command import Place
from siding.ground.git.drivers import path_classes
from siding.ground.git.errors import DriverOff
from siding.ground.git.roots import recorded_root
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.record.ledger.step import Step
from siding.record.place.base_seed import base_seed
from siding.record.place.locks import Hold, holding_git, holding_task
from siding.record.place.named_task import resolve
from siding.record.place.old_home import workspace_of
from siding.record.place.project import Project
from siding.record.place.terminal_task import make_current
from siding.record.recording.inherited_mark import inherit_mark
from siding.record.recording.opening import open_recorder
from siding.record.recording.snapshots import TaskSnapshots
from siding.record.snapshots.seeding import add_task, attributes_convert, pin
from siding.record.snapshots.store import remove_tree
from siding.record.snapshots.store_upkeep import create_store
from siding.record.tasks.moves import WorkspaceMove, move_workspace
from siding.record.tasks.registry import Workspace
from siding.record.tasks.states import TaskState, WorkspaceState
from siding.record.tasks.task import Task
from siding.record.workspaces.attempts import Attempt, payload_of
from siding.record.workspaces.binding import bind
from siding.record.workspaces.recovery import recover_cut_off, recover_if_cut_off
from siding.record.workspaces.reserve import keep_reserve
from siding.record.workspaces.workspaces import ADOPT, undo_adoption
from siding.record.worktrees.linked import Checkout, write_files
from siding.tasks.adoptable import FoundWorktree, base_of, find_worktree
from siding.tasks.blockers import refuse_blocked
from siding.tasks.start import StartRequest, check_name, put_on_board

AS_ADOPTED = "as adopted"


class AdoptRequest(NamedTuple):
    """The options of ``siding worktree adopt``.

    The worktree goes to the `task`, which has no workspace yet; without one, to a new task with
    this `name`, by default that of the branch.
    """

    path: Path
    task: str | None = None
    name: str | None = None
    base: str | None = None
    switch: bool = True
    force: bool = False  # also for a task that waits for another one


class Adopted(NamedTuple):
    """An adopted worktree. `step` is the first step; `changed` files differ from the base."""

    task: Task
    workspace: Workspace
    base_ref: str
    step: Step
    changed: int
    switched: bool


def adopt_worktree(project: Project, request: AdoptRequest) -> Adopted:
    """Make a worktree the workspace of a task, where it is.

    Raises the errors of `find_worktree` and `base_of`, and UsageError for a task that cannot get a
    workspace. After any error the worktree is as it was, and belongs to no task.
    """
    asked = {"path": str(request.path), "base_ref": request.base or ""}
    with Attempt(project, "worktree.adopt", worktree=asked) as attempt:
        recover_cut_off(project)
        found = find_worktree(project, request.path)
        base_ref, base = base_of(project, found, request.base)
        _refuse_off_filters(project, found, base)
        task = _task_for(project, request, found, base_ref)
        attempt.about(task)
        return _hold_and_adopt(project, request, task, found, attempt, base_ref=base_ref, base=base)


def _hold_and_adopt(
    project: Project,
    request: AdoptRequest,
    task: Task,
    found: FoundWorktree,
    attempt: Attempt,
    *,
    base_ref: str,
    base: Sha,
) -> Adopted:
    with holding_task(project, task.id, f"adopting a worktree for {task.name}") as hold:
        recover_if_cut_off(project, task.id)
        task = project.tasks.load(task.id)
        _refuse_furnished(project, task)
        task, workspace = _adopt(project, task, found, attempt, base_ref=base_ref, base=base)
        inherit_mark(project, task.id, base, found.head)
        recorder = open_recorder(project, task, hold)
        step = recorder.checkpoint(AS_ADOPTED, origin="adopted")
        assert step is not None
        changed = recorder.changes_since_base()
        if request.switch:
            with project.changing(f"switching to task {task.id}"):
                make_current(project, task.id)
    return Adopted(task, workspace, base_ref, step, changed, request.switch)


def _task_for(project: Project, request: AdoptRequest, found: FoundWorktree, base_ref: str) -> Task:
    """Return the task that gets the worktree; a new one is put on the board."""
    if request.task is not None:
        task = resolve(project, request.task)
        _refuse_furnished(project, task)
        if not request.force:
            refuse_blocked(project, task, "starting it")
        return task
    name = check_name(project, request.name or found.branch)
    return put_on_board(project, StartRequest(name=name), base_ref)


def _refuse_off_filters(project: Project, found: FoundWorktree, base: Sha) -> None:
    """Raise DriverOff if files of the worktree go through a filter that nobody trusted.

    The person's own git has decoded them, so each would count as changed by the task.
    """
    user = project.user_settings
    if not user.off_filters:
        return
    place = Place(
        git_dir=found.git_dir,
        common_dir=project.paths.common_dir,
        work_tree=found.path,
        settings=user.settings,
    )
    classes = path_classes(project.git, place, base, user.off)
    names = [each.name for each in classes if each.kind == "filter" and each.files]
    if names:
        raise DriverOff(
            f"files of {str(found.path)!r} go through the filter {', '.join(map(repr, names))} of "
            "this repository's own configuration, which is off until you trust it",
            hint="it was not adopted: without the filter all of them would count as changed. "
            "`siding trust --show` shows what it runs, `siding trust` allows exactly that",
        )


def _refuse_furnished(project: Project, task: Task) -> None:
    if task.status is TaskState.CLOSED:
        raise UsageError(
            f"task {task.name!r} is closed", hint=f"`siding task reopen {task.id}` opens it"
        )
    workspace = workspace_of(project, task)
    if workspace is None:
        return
    if workspace.status is WorkspaceState.REMOVED:
        raise UsageError(
            f"task {task.name!r} had a workspace, which was removed",
            hint=f"`siding task reopen {task.id}` brings it back; for the worktree, leave out "
            "--task, and it gets a task of its own",
        )
    raise UsageError(
        f"task {task.name!r} has a workspace already: {workspace.path!r}",
        hint="leave out --task, and the worktree gets a task of its own",
    )


def _adopt(
    project: Project,
    task: Task,
    found: FoundWorktree,
    attempt: Attempt,
    *,
    base_ref: str,
    base: Sha,
) -> tuple[Task, Workspace]:
    """Enter the worktree in the registry, with its base snapshot. The caller holds the lock."""
    status = move_workspace(WorkspaceState.ABSENT, WorkspaceMove.CREATE)
    planned = _planned(project, task, found, base)
    payload = {"name": planned.name, "path": planned.path, "base_ref": base_ref}
    attempt.begin(task.id, payload)
    with project.changing(f"adopting a worktree for task {task.id}"):
        project.registry.put(planned)
    try:
        with holding_git(project, f"adopting a worktree for task {task.id}"):
            pin(project.git, project.paths, base)
        adopted = planned._replace(
            base_snapshot=base_snapshot_of(project, planned), status=status, intent=None
        )
        keep_reserve(project)
        task = bind(project, task, adopted, base_ref, event="adopt")
    except BaseException:
        undo_adoption(project, planned)
        raise
    attempt.end(task.id, payload_of(adopted), task)
    return task, adopted


def _planned(project: Project, task: Task, found: FoundWorktree, base: Sha) -> Workspace:
    now = project.app.now()
    root = recorded_root(found.path)
    return Workspace(
        name=found.path.name,
        path=str(found.path),
        branch=found.branch,
        task_id=task.id,
        status=WorkspaceState.ABSENT,
        created_at=now,
        base_commit=base,
        git_dir=str(found.git_dir),
        device=root.device,
        inode=root.inode,
        intent={"op": ADOPT, "at": now, "pid": project.app.pid},
        adopted=True,
    )


def base_snapshot_of(project: Project, workspace: Workspace, hold: Hold | None = None) -> Sha:
    """Make the first snapshot of a task: its base commit, as git would have checked it out.

    Where line endings, filters or encodings change the bytes at a checkout, the commit's files are
    written aside and recorded. Otherwise every file of the worktree would count as changed.
    """
    base = workspace.base_commit
    create_store(project.snapshots)
    seed = base_seed(
        project, workspace.task_id, base, Path(workspace.path), Path(workspace.git_dir)
    )
    first = add_task(project.snapshots, seed)
    if not (project.user_settings.converts or attributes_convert(project.snapshots, base)):
        return first
    aside = project.layout.root / "restoring" / f"{workspace.task_id}.base"
    remove_tree(aside)
    make_dirs(aside / "files")
    try:
        checkout = Checkout(
            repository=project.repository,
            path=aside / "files",
            git_dir=Path(workspace.git_dir),
            index_file=aside / "index",
            user=project.user_settings,
            workers=os.cpu_count() or 2,
        )
        write_files(checkout, base)
        root = recorded_root(aside / "files")
        there = workspace._replace(path=str(root.path), device=root.device, inode=root.inode)
        return TaskSnapshots(project, there, hold=hold).capture(step="base", kind="base").snapshot
    finally:
        remove_tree(aside)
