"""Adopt a worktree that somebody else made: it becomes a task's workspace where it is.

People have worktrees that `git worktree add` or an agent made. Such a worktree is not moved, and
its branch stays its branch. The task's base is the commit where the branch departed from the base
branch, so that everything done there since counts as the task's change. The state at the moment of
the adoption is the first step. Not every directory can be adopted: `find_worktree` says which.
"""

import os
from pathlib import Path

from siding.ground.errors import NotFound, SidingError, UsageError
from siding.ground.files.durable import make_dirs
from siding.ground.git.command import Place
from siding.ground.git.discovery import find_repository
from siding.ground.git.drivers import path_classes
from siding.ground.git.errors import DriverOff, NoCommits, NotARepository
from siding.ground.git.refs import HeadState
from siding.ground.git.roots import recorded_root
from siding.ground.ids import Sha, TaskId
from siding.ground.namedtuples import NamedTuple
from siding.record.ledger.step import Step
from siding.record.place.locks import Hold, holding_git, holding_task
from siding.record.place.named_task import resolve
from siding.record.place.project import Project
from siding.record.place.take_over import base_seed
from siding.record.place.task_workspace import workspace_of
from siding.record.place.terminal_task import make_current
from siding.record.recording.inherited_mark import inherit_mark
from siding.record.recording.opening import open_recorder
from siding.record.recording.snapshots import TaskSnapshots
from siding.record.snapshots.seeding import add_task, attributes_convert, pin
from siding.record.snapshots.store import remove_tree
from siding.record.snapshots.store_upkeep import create_store
from siding.record.tasks.moves import WorkspaceMove, move_workspace
from siding.record.tasks.registry import Workspace
from siding.record.tasks.task import Task, TaskState, WorkspaceState
from siding.record.workspaces.attempts import Attempt, payload_of
from siding.record.workspaces.binding import bind
from siding.record.workspaces.recovery import recover_cut_off, recover_if_cut_off
from siding.record.workspaces.reserve import keep_reserve
from siding.record.workspaces.workspaces import ADOPT, undo_adoption
from siding.record.worktrees.linked import Checkout, write_files
from siding.record.worktrees.listing import WorktreeInfo, worktrees
from siding.tasks.changes import refuse_blocked
from siding.tasks.start import (
    StartRequest,
    check_name,
    default_base_of,
    put_on_board,
    say_what_is_taken,
)

INITIALIZING = "initializing"  # how `git worktree add` locks a worktree that it is making
AS_ADOPTED = "as adopted"


class NotAdoptable(SidingError):
    """The directory is no worktree that a task can adopt. Nothing was changed."""

    code = "not_adoptable"


class FoundWorktree(NamedTuple):
    """A linked worktree of the project's repository that belongs to no task."""

    path: Path  # without symbolic links
    git_dir: Path
    branch: str
    head: Sha


def find_worktree(project: Project, path: Path) -> FoundWorktree:
    """Return the worktree at `path`.

    Raises NotFound if there is no directory, and NotAdoptable, with the reason, if it is not a
    whole linked worktree of this repository that is on a branch and that no task has.
    """
    place = Path(os.path.realpath(path))
    if not place.is_dir():
        raise NotFound(
            f"there is no directory {str(path)!r}",
            hint="`git worktree list` shows the worktrees of this repository",
        )
    _refuse_taken(project, place)
    info = _worktree_at(project, place)
    _refuse_busy(info, place)
    _refuse_unmovable(project, place)
    head = project.repository.head(info.git_dir)
    if head.state is HeadState.UNBORN or head.sha is None:
        raise NoCommits(
            f"the branch {head.branch!r} of {str(place)!r} has no commit yet",
            hint="make a first commit there: a task starts from one",
        )
    if head.branch is None:
        raise NotAdoptable(
            f"{str(place)!r} has no branch checked out (its HEAD is detached)",
            hint=f"`git -C {place} switch -c NAME` makes a branch of it; if a rebase or bisect is "
            "under way there, end it first",
        )
    return FoundWorktree(path=place, git_dir=info.git_dir, branch=head.branch, head=head.sha)


def base_of(project: Project, found: FoundWorktree, named: str | None) -> tuple[str, Sha]:
    """Return the base's name, and the commit where the worktree's branch departed from it.

    Raises UsageError if there is no such commit, or if the base is the worktree's own branch and
    nobody named it.
    """
    base_ref = named or default_base_of(project, project.repository.head())
    if named is None and base_ref == found.branch:
        raise UsageError(
            f"{str(found.path)!r} has {found.branch!r} checked out, which is the base itself",
            hint="--base REF names the commit or branch that its changes are counted from",
        )
    tip = project.repository.resolve(base_ref)
    if named is not None:
        say_what_is_taken(project, named, tip)
    base = project.repository.merge_base(found.head, tip)
    if base is None:
        raise UsageError(
            f"{found.branch!r} and {base_ref!r} have no commit in common",
            hint="--base REF names the commit or branch that its changes are counted from",
        )
    return base_ref, base


def _refuse_taken(project: Project, place: Path) -> None:
    """Refuse a workspace, what lies in one, and what one lies in."""
    owner = project.task_around(place)
    if owner is not None:
        entry = project.registry.of_task(owner)
        itself = entry is None or os.path.realpath(entry.path) == str(place)
        where = "is" if itself else "lies in"
        raise NotAdoptable(
            f"{str(place)!r} {where} the workspace of {_named(project, owner)}",
            hint="a directory belongs to one task at most; `siding worktree bind` gives a "
            "workspace to another task"
            if itself
            else "what is in a workspace is recorded with it",
        )
    if place.is_relative_to(os.path.realpath(project.app.home.root)):
        raise NotAdoptable(
            f"{str(place)!r} is inside Siding's home", hint="`siding doctor` says what it is"
        )
    for entry in project.registry.all():
        if entry.status.value in ("active", "kept") and Path(entry.path).is_relative_to(place):
            raise NotAdoptable(
                f"the workspace of {_named(project, entry.task_id)} lies in {str(place)!r}",
                hint="`git worktree move` one of them elsewhere",
            )


def _named(project: Project, task_id: TaskId) -> str:
    try:
        task = project.tasks.load(task_id)
    except SidingError:
        return f"task {task_id}"
    return f"task {task_id} · {task.name} ({task.status.value})"


def _worktree_at(project: Project, place: Path) -> WorktreeInfo:
    try:
        paths = find_repository(place)
    except NotARepository as error:
        raise NotAdoptable(
            f"{str(place)!r} is not a worktree of git: {error.message}", hint=error.hint
        ) from error
    if paths.common_dir != project.paths.common_dir:
        raise NotAdoptable(
            f"{str(place)!r} belongs to another repository: {str(paths.root)!r}",
            hint="run the command in that one",
        )
    if paths.worktree is None:
        raise NotAdoptable(
            f"{str(place)!r} is a git directory, not a worktree",
            hint="`git worktree list` shows the worktrees of this repository",
        )
    if paths.worktree != place:
        raise NotAdoptable(
            f"{str(place)!r} is only a part of the worktree {str(paths.worktree)!r}",
            hint="name the worktree itself",
        )
    if not paths.linked:
        raise NotAdoptable(
            f"{str(place)!r} is the main checkout, which is yours",
            hint="`siding task start NAME --carry` makes a workspace with your changes",
        )
    for info in worktrees(project.repository)[1:]:
        if os.path.realpath(info.git_dir) == str(paths.git_dir):
            if info.path is not None and os.path.realpath(info.path) == str(place):
                return info
            break
    raise NotAdoptable(
        f"git's record of the worktree {str(place)!r} names another place or is gone",
        hint=f"`git worktree repair {place}` mends it, if nobody uses the other place",
    )


def _refuse_busy(info: WorktreeInfo, place: Path) -> None:
    for name in ("index.lock", "HEAD.lock"):
        if os.path.lexists(info.git_dir / name):
            raise NotAdoptable(
                f"git is at work in {str(place)!r}: there is {str(info.git_dir / name)!r}",
                hint="try again when it has ended; if it was killed, delete that file",
            )
    if info.locked == INITIALIZING:
        raise NotAdoptable(
            f"`git worktree add` is making {str(place)!r} or was killed at it",
            hint="try again when it has ended; if it was killed, remove the worktree",
        )


def _refuse_unmovable(project: Project, place: Path) -> None:
    """Refuse what could not be gone back in: that renames files from the home into place."""
    if place.stat().st_dev != project.layout.root.stat().st_dev or os.path.ismount(place):
        raise NotAdoptable(
            f"{str(place)!r} is on another file system than Siding's home "
            f"{str(project.app.home.root)!r}",
            hint="going back renames files into place, which works within one file system only: "
            "`git worktree move` it, or start with SIDING_HOME on that file system",
        )


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
