"""Make, keep and remove workspaces, and recover these acts if they were cut off.

Every act emits an event before it begins and another one when it has ended or failed. It keeps an
intent in the registry while it runs, so that the next command can finish or undo it. Nothing here
deletes files: a workspace that is removed is renamed into the project's ``trash``.
"""

import os
from collections.abc import Callable
from pathlib import Path

from siding.ground.errors import NotFound, SidingError, UnreadableFile
from siding.ground.files.durable import make_dirs, move_aside
from siding.ground.git.errors import BranchExists, GitError
from siding.ground.git.roots import recorded_root
from siding.ground.ids import Sha
from siding.record.moving.ref_locks import sweep_locks
from siding.record.place.events import WorkspaceChanged
from siding.record.place.locks import Hold, holding_git
from siding.record.place.project import Project
from siding.record.place.take_over import base_seed
from siding.record.place.trash import fresh_trash
from siding.record.recording.opening import take_base_snapshot
from siding.record.snapshots.seeding import add_task, pin
from siding.record.snapshots.store_upkeep import create_store, remove_task
from siding.record.tasks.moves import WorkspaceMove, move_workspace
from siding.record.tasks.names import slug
from siding.record.tasks.registry import Workspace
from siding.record.tasks.task import Task, WorkspaceState
from siding.record.workspaces.archives import COLLECT, finish_collection
from siding.record.workspaces.attempts import Attempt, naming, payload_of
from siding.record.workspaces.binding import BIND, ENTER, bind, finish_entering, recover_binding
from siding.record.workspaces.branches import FATE, sweep_branch
from siding.record.workspaces.reserve import keep_reserve
from siding.record.workspaces.restoration import RESTORE, finish_return
from siding.record.worktrees.keeping import PACK_NAME, keep_private
from siding.record.worktrees.linked import AddedWorktree, add_worktree, go_on_to, undo_add
from siding.record.worktrees.registration import detach_worktree, is_registered

ADOPT = "adopt"


def sparse_as(project: Project, task: Task | None) -> Path:
    """Return the git directory of the worktree that a new one is as sparse as.

    It is that of a task; without one, or without its workspace, that of the person's checkout.
    """
    workspace = None if task is None else project.workspaces.of_task(task.id)
    if workspace is not None and (Path(workspace.git_dir) / "HEAD").is_file():
        return Path(workspace.git_dir)
    checkout = project.checkout
    return project.paths.common_dir if checkout is None else checkout.git_dir


def create(
    project: Project,
    task: Task,
    hold: Hold,
    attempt: Attempt,
    *,
    base_ref: str,
    base: Sha,
    start: Sha | None = None,
    source: Task | None = None,
) -> tuple[Task, Workspace]:
    """Make the task's workspace at commit `base`, or at `start`; its base is `base` either way.

    It is as sparse as the workspace of the task `source`, else as where the person stands.
    If git fails, the unfinished workspace is removed and the error is raised.
    """
    old = project.workspaces.of_task(task.id)
    state = WorkspaceState.ABSENT if old is None else old.status
    move_workspace(state, WorkspaceMove.CREATE)
    planned = _plan(project, task, base, start)
    _refuse_occupied(planned)
    _refuse_removed(task, old)
    _refuse_branch(project, planned)
    attempt.begin(task.id, {"name": planned.name, "base_ref": base_ref})
    with project.changing(f"making the workspace of task {task.id}"):
        project.registry.put(planned)
    project.app.tell(f"checking {base_ref} out")
    try:
        with holding_git(project, f"making the workspace of task {task.id}"):
            pin(project.git, project.paths, base)
            added = add_worktree(
                project.repository,
                Path(planned.path),
                planned.branch,
                base,
                user=project.user_settings,
                like=sparse_as(project, source),
                workers=os.cpu_count() or 2,
            )
        made = _identified(planned, added)
        _seed(project, made, added)
        if start is not None and start != base:
            # git's conversions (line endings, filters) show in files that it wrote: so the base is
            # checked out and recorded first.
            made = take_base_snapshot(project, task, made, hold)
            with holding_git(project, f"making the workspace of task {task.id}"):
                user = project.user_settings
                go_on_to(project.repository, added, base, start, user=user)
    except BaseException:
        undo_creation(project, planned)
        raise
    finally:
        project.app.tell("")
    keep_reserve(project)
    made = made._replace(
        status=move_workspace(WorkspaceState.ABSENT, WorkspaceMove.CREATE), intent=None
    )
    task = bind(project, task, made, base_ref, event="create")
    attempt.end(task.id, payload_of(made), task)
    return task, made


def keep(project: Project, task: Task, workspace: Workspace) -> Workspace:
    """Record that a workspace is kept."""
    kept = workspace._replace(
        status=move_workspace(workspace.status, WorkspaceMove.KEEP), kept_at=project.app.now()
    )
    with project.changing(f"keeping the workspace of task {workspace.task_id}"):
        project.registry.put(kept)
    project.events.emit(WorkspaceChanged(task.id, "keep", payload_of(kept), task=task))
    return kept


def remove(
    project: Project,
    workspace: Workspace,
    attempt: Attempt,
    *,
    complete: Callable[[], Task] | None = None,
    keep_branch: bool = False,
) -> Workspace:
    """Move a workspace and git's record of it to the trash, and delete its branch if that is safe.

    The caller holds the task's lock and has taken a snapshot. Nothing is deleted: ignored files,
    nested repositories, staged changes and commits that are on no other branch move along. When the
    branch is safe to delete, `branches.py` says. `complete` closes the task in the same act; its
    event comes before that of the end.
    """
    move_workspace(workspace.status, WorkspaceMove.REMOVE)
    _refuse_to_move(project, workspace)
    attempt.begin(workspace.task_id, naming(workspace))
    going = workspace._replace(
        intent={
            "op": "remove",
            "at": project.app.now(),
            "pid": project.app.pid,
            **({"keep_branch": True} if keep_branch else {}),
        },
        trash=fresh_trash(project.app, workspace.task_id),
        rest={key: value for key, value in workspace.rest.items() if key != FATE},
    )
    with project.changing(f"removing the workspace of task {workspace.task_id}"):
        project.registry.put(going)
    gone = finish_removal(project, going)
    try:
        if complete is not None:
            complete()
    finally:  # it is removed, whether the task could be closed or not
        attempt.end(workspace.task_id, payload_of(gone), _task_or_none(project, workspace))
    return gone


def _refuse_to_move(project: Project, workspace: Workspace) -> None:
    """Raise SidingError if an adopted worktree cannot be moved, or if git was told it must not."""
    path = Path(workspace.path)
    if not workspace.adopted or not path.is_dir():
        return
    hint = "`siding worktree keep` or `siding task close --keep` leaves it where it is"
    if os.path.lexists(Path(workspace.git_dir) / "locked"):
        raise SidingError(
            f"{workspace.path!r} is locked by `git worktree lock`, so it is not moved",
            hint=f"`git worktree unlock` it first; {hint}",
        )
    if path.stat().st_dev != project.layout.root.stat().st_dev or os.path.ismount(path):
        raise SidingError(
            f"{workspace.path!r} is on another file system than Siding's home, so it cannot be "
            "moved into the trash",
            hint=hint,
        )


def finish_removal(project: Project, going: Workspace) -> Workspace:
    """Finish a removal. Safe to repeat after a crash at any point."""
    assert going.trash is not None
    trash = project.layout.root / going.trash
    make_dirs(trash)
    path = Path(going.path)
    with holding_git(project, f"removing the workspace of task {going.task_id}"):
        if os.path.lexists(going.git_dir):
            _keep_private(project, going, trash)
        if is_registered(project.repository, Path(going.git_dir)):
            detach_worktree(project.repository, path, Path(going.git_dir), trash)
    if os.path.lexists(path):
        move_aside(path, trash / "workspace")
    keep = bool((going.intent or {}).get("keep_branch"))
    with holding_git(project, f"deleting the branch of task {going.task_id}"):
        going = sweep_branch(project, going, keep=keep)
    gone = going._replace(status=WorkspaceState.REMOVED, removed_at=project.app.now(), intent=None)
    with project.changing(f"removing the workspace of task {going.task_id}"):
        project.registry.put(gone)
    return gone


def _keep_private(project: Project, going: Workspace, trash: Path) -> None:
    """Pack the objects that only the worktree's HEAD, reflog and index name.

    Once the worktree is detached, `git gc` would delete these objects.
    """
    try:
        keep_private(project.repository, Path(going.git_dir), going.base_commit, trash / PACK_NAME)
    except GitError as error:  # a damaged index must not prevent closing the task
        project.events.emit(
            WorkspaceChanged(
                going.task_id, "remove.incomplete", payload_of(going), error=error.message
            )
        )


def undo_creation(project: Project, planned: Workspace) -> None:
    """Remove a workspace that was not finished; nothing has run in it, so no work is lost."""
    start = Sha(str((planned.intent or {}).get("start") or planned.base_commit))
    with holding_git(project, f"undoing the workspace of task {planned.task_id}"):
        common = project.paths.common_dir
        # Of an attempt at this whose git was killed while it deleted the branch.
        locks = [common / f"refs/heads/{planned.branch}.lock", common / "packed-refs.lock"]
        sweep_locks(locks, [planned.base_commit, start])
        undo_add(
            project.repository,
            Path(planned.path),
            planned.branch,
            planned.base_commit,
            aside=project.layout.root / fresh_trash(project.app, planned.task_id),
            start=start,
        )
    with project.changing(f"undoing the workspace of task {planned.task_id}"):
        project.registry.forget(planned.task_id)


def undo_adoption(project: Project, planned: Workspace) -> None:
    """Forget an adoption that was not finished. The worktree itself was not touched by it."""
    if project.ledger(planned.task_id).last() is None:
        create_store(project.snapshots)  # the adoption may have been cut off before that
        remove_task(project.snapshots, planned.task_id)
    with project.changing(f"undoing the adoption for task {planned.task_id}"):
        project.registry.forget(planned.task_id)


def recover(project: Project, workspace: Workspace) -> str:
    """Finish or undo an act that a crash cut off; return a phrase about what was done.

    The event that the act would have emitted is emitted now, marked as recovered.
    """
    operation = (workspace.intent or {}).get("op")
    if operation == "create":
        undo_creation(project, workspace)
        project.events.emit(
            WorkspaceChanged(
                workspace.task_id,
                "create.failed",
                {"name": workspace.name, "base_ref": workspace.base_commit},
                error="it was cut off; what was half made was taken back",
                recovered=True,
            )
        )
        return f"took back the half-made workspace of task {workspace.task_id}"
    if operation == "remove":
        gone = finish_removal(project, workspace)
        task = _task_or_none(project, workspace)
        project.events.emit(
            WorkspaceChanged(
                workspace.task_id, "remove.after", payload_of(gone), task=task, recovered=True
            )
        )
        return f"finished removing the workspace of task {workspace.task_id}"
    if operation == ADOPT:
        undo_adoption(project, workspace)
        project.events.emit(
            WorkspaceChanged(
                workspace.task_id,
                "adopt.failed",
                {"name": workspace.name, "path": workspace.path},
                error="it was cut off; the worktree is as it was",
                recovered=True,
            )
        )
        return f"took back the adoption of a worktree for task {workspace.task_id}"
    if operation == ENTER:
        return finish_entering(project, workspace)
    if operation == BIND:
        return recover_binding(project, workspace)
    if operation == RESTORE:
        here = finish_return(project, workspace).workspace
        project.events.emit(
            WorkspaceChanged(workspace.task_id, "restore.after", payload_of(here), recovered=True)
        )
        return f"finished bringing back the workspace of task {workspace.task_id}"
    if operation == COLLECT:
        finish_collection(project, workspace)
        return f"finished freeing what task {workspace.task_id} had in the trash"
    raise SidingError(
        f"the registry names an unfinished act {operation!r} that this Siding does not know",
        hint="use the version of Siding that began it",
    )


def _plan(project: Project, task: Task, base: Sha, start: Sha | None) -> Workspace:
    now = project.app.now()
    return Workspace(
        name=task.worktree or f"{slug(task.name)}-{task.id}",
        path=str(project.layout.workspace(task.id)),
        branch=_branch_of(project, task),
        task_id=task.id,
        status=WorkspaceState.ABSENT,
        created_at=now,
        base_commit=base,
        intent={
            "op": "create",
            "at": now,
            "pid": project.app.pid,
            **({} if start is None else {"start": start}),
        },
    )


def _refuse_occupied(planned: Workspace) -> None:
    if os.path.lexists(planned.path):
        raise SidingError(
            f"{planned.path!r} is in the way of the new workspace",
            hint="`siding doctor` says what it is; move it elsewhere if it is yours",
        )


def _refuse_removed(task: Task, old: Workspace | None) -> None:
    """Raise SidingError if the task has a removed workspace: its entry says where that lies."""
    if old is not None and old.status is WorkspaceState.REMOVED:
        raise SidingError(
            f"task {task.name!r} had a workspace already, which was removed",
            hint=f"`siding task reopen {task.id}` brings it back as it was",
        )


def _branch_of(project: Project, task: Task) -> str:
    """Return the name of the branch that a task gets; say so if it is not the usual one.

    A branch that another tool made for the task stays as it is: the new one begins there, under
    the same name with a number.
    """
    if task.branch:
        branch, number = task.branch, 2
        while not task.worktree and project.repository.branch(branch) is not None:
            branch, number = f"{task.branch}-{number}", number + 1
        return branch
    branch, prefix = project.branch_for(task.name, task.id), project.settings.branch_prefix
    if not branch.startswith(prefix):
        project.app.warn(
            f"a branch is in the way of names that begin with {prefix!r}; the task's is {branch!r} "
            "(git.branch_prefix in the settings is what they begin with)"
        )
    return branch


def _refuse_branch(project: Project, planned: Workspace) -> None:
    """Raise BranchExists before anything changes."""
    if project.repository.branch(planned.branch) is not None:
        raise BranchExists(
            f"there is a branch {planned.branch!r} already",
            hint="choose another name for the task",
        )


def _identified(planned: Workspace, added: AddedWorktree) -> Workspace:
    """Return `planned` with the device and inode of its directory, which identify it."""
    root = recorded_root(Path(planned.path))
    return planned._replace(device=root.device, inode=root.inode, git_dir=str(added.git_dir))


def _seed(project: Project, made: Workspace, added: AddedWorktree) -> None:
    """Prepare the snapshot store for the task's first snapshot."""
    create_store(project.snapshots)
    add_task(
        project.snapshots,
        base_seed(
            project,
            made.task_id,
            made.base_commit,
            added.path,
            added.git_dir,
            fresh_index=added.git_dir / "index" if added.pristine else None,
        ),
    )


def _task_or_none(project: Project, workspace: Workspace) -> Task | None:
    try:
        return project.tasks.load(workspace.task_id)
    except (NotFound, UnreadableFile):
        return None  # a workspace is removed also if the task's document is damaged
