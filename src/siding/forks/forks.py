"""Make a fork of a recorded state, give its workspace back, or make it a task of the board.

A fork is a task with a ledger, a workspace and no branch. It has a parent, and is no row of the
board. What `drop` takes away is the workspace: the ledger, the outputs and the snapshots stay with
the closed task until `siding gc`.

Ignored, expensive directories of the parent's workspace come along where the settings name them
(`forks.warm`), none by default: a copy of 20,000 files takes seconds where the file system cannot
share blocks, and what holds absolute paths (a `.venv`) leads back into the parent's workspace.
Files are copied and never hard-linked: tools write into them in place.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from siding.forks.parentage import Parentage, with_parentage
from siding.forks.pool import Taken, Wanted, taken
from siding.forks.returning import Dropped, give_up
from siding.forks.state import ForkState, write_base
from siding.ground.errors import SidingError, UsageError
from siding.ground.files.durable import make_dirs
from siding.ground.files.regular import read_small
from siding.ground.git import refs
from siding.ground.ids import Sha, TaskId, is_fork, new_fork_id
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.locks import FileLock, Holder, LockBusy
from siding.record.files.index_entries import ignored_among
from siding.record.place.project import Project
from siding.record.place.task_workspace import require_workspace
from siding.record.snapshots.store import remove_tree
from siding.record.tasks.names import problem_with_name
from siding.record.tasks.registry import Workspace
from siding.record.tasks.task import Task, TaskState, WorkspaceState
from siding.record.traps.marks import carry_mark
from siding.record.workspaces.workspaces import sparse_as
from siding.starting.start_from import start_from
from siding.tasks.carry import copy_entry
from siding.tasks.start import Started, StartRequest

# What such a directory is made from. All that are there must be the same in both workspaces.
_LOCK_FILES = (
    *("package.json", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml"),
    *("bun.lock", "bun.lockb", "pyproject.toml", "uv.lock", "poetry.lock", "pdm.lock"),
    *("Pipfile.lock", "requirements.txt", "Cargo.lock", "go.sum", "Gemfile.lock", "composer.lock"),
)
_LARGEST = 64 << 20


class ForkInUse(SidingError):
    """Another process works with this fork."""

    code = "fork_in_use"


class ForkRequest(NamedTuple):
    """How a fork is called. `name` "" is the call, else the id."""

    group: str = ""
    call: str = ""
    name: str = ""


_NAMELESS = ForkRequest()


class Fork:
    """A fork that this process works with. No sweep takes it away while that is so.

    Close it (or use `forked`) when it is not worked with any more: it then is a task like any
    other, and can be opened again. A process that dies closes its forks.
    """

    def __init__(self, task: Task, workspace: Workspace, lease: FileLock) -> None:
        self.task = task
        self.workspace = workspace
        self._lease = lease

    @property
    def id(self) -> TaskId:
        return self.task.id

    @property
    def path(self) -> Path:
        """The directory of its workspace."""
        return Path(self.workspace.path)

    def close(self) -> None:
        self._lease.release()


def fork(project: Project, state: ForkState, request: ForkRequest = _NAMELESS) -> Fork:
    """Make a fork of a state (see `recorded`); byte for byte, HEAD detached where it was.

    Any number of threads and processes may do so at once. Raises UsageError for a name that cannot
    be one, SnapshotDamaged if the state is not whole, GitError; then nothing is left of it.
    """
    task_id = new_fork_id(project.app.random_bytes)
    name = request.name or request.call or task_id
    problem = problem_with_name(name)
    if problem is not None:
        raise UsageError(f"{name!r} cannot name a fork: {problem}")
    said = [project.redaction.text(each) for each in (name, request.group, request.call)]
    request = ForkRequest(name=said[0], group=said[1], call=said[2])
    wanted = Wanted(
        owner=task_id, held=state.held, base=state.base, like=sparse_as(project, state.task)
    )
    with taken(project, wanted) as found:
        lease = _leased(project, task_id)
        try:
            warm(project, project.registry.of_task(state.task.id), found.path)
            return _entered(project, found, wanted, state, request, lease)
        except BaseException:
            lease.release()
            raise


@contextmanager
def forked(project: Project, state: ForkState, request: ForkRequest = _NAMELESS) -> Iterator[Fork]:
    """Yield a new fork, and close it after the block. It stays: drop it, keep it or sweep."""
    made = fork(project, state, request)
    try:
        yield made
    finally:
        made.close()


def drop(project: Project, found: Fork) -> Dropped:
    """Close the fork's task and give its workspace back to the pool.

    What is in the workspace is recorded first, so nothing is lost that a step does not have. Raises
    TaskBusy if a run lives in it.
    """
    try:
        return give_up(project, found.task)
    finally:
        found.close()


def reopened(project: Project, task: Task) -> Fork:
    """Return a fork that is there, to go on with it: after a crash, say. Close it in the end.

    Raises UsageError for a task that is no fork, NoWorkspace if it was dropped, ForkInUse.
    """
    if not is_fork(task.id):
        raise UsageError(f"task {task.name!r} is no fork")
    lease = _leased(project, task.id)
    try:
        workspace = require_workspace(project, task)
    except BaseException:
        lease.release()
        raise
    return Fork(task, workspace, lease)


def _leased(project: Project, task_id: TaskId) -> FileLock:
    layout = project.task_layout(task_id)
    make_dirs(layout.root)
    holder = Holder(pid=project.app.pid, since=project.app.now(), what=f"working with {task_id}")
    try:
        return FileLock(layout.lease).acquire(timeout_s=0, holder=holder)
    except LockBusy as busy:
        who = f" by process {busy.holder.pid}" if busy.holder else ""
        raise ForkInUse(
            f"fork {task_id} is worked with{who}", hint="wait until that has ended"
        ) from None


def _entered(
    project: Project,
    found: Taken,
    wanted: Wanted,
    state: ForkState,
    request: ForkRequest,
    lease: FileLock,
) -> Fork:
    """Write down the fork: its first snapshot, its workspace, and last its task."""
    store, now = project.snapshots, project.app.now()
    at = int(project.app.clock.now().timestamp())
    base = write_base(store, wanted.owner, wanted.held, wanted.base, found.git_dir, at=at)
    refs.write_ref(store.root, store.task(wanted.owner).ref, base)
    # There is no such branch. But what records a task wants to know its name, and is used to a
    # branch that is gone.
    branch = f"{project.settings.branch_prefix}{wanted.owner}"
    workspace = Workspace(
        name=wanted.owner,
        path=str(found.path),
        branch=branch,
        task_id=wanted.owner,
        status=WorkspaceState.ACTIVE,
        created_at=now,
        base_commit=wanted.base,
        base_snapshot=base,
        git_dir=str(found.git_dir),
        device=found.slot.device,
        inode=found.slot.inode,
        rest={"slot": found.slot.name},
    )
    project.registry.put(workspace)
    parentage = Parentage(
        parent=state.task.id,
        group=request.group,
        call=request.call,
        step=state.step,
        snapshot=state.snapshot,
        base=base,
    )
    task = with_parentage(_task(project, workspace, state, request, now), parentage)
    source = project.registry.of_task(state.task.id)
    if source is not None:
        carry_mark(project, state.task.id, task.id, source.base_snapshot)
    project.tasks.save(task)
    return Fork(task, workspace, lease)


def _task(
    project: Project, workspace: Workspace, state: ForkState, request: ForkRequest, now: str
) -> Task:
    return Task(
        id=workspace.task_id,
        name=request.name,
        repo_root=str(project.paths.root),
        base_ref=state.task.base_ref,
        base_commit=Sha(state.base),
        branch=workspace.branch,
        workspace_path=os.path.relpath(workspace.path, project.app.home.root),
        status=TaskState.ACTIVE,
        created_at=now,
        updated_at=now,
        closed_at=None,
        owner="",
        blocked_by=(),
        worktree=workspace.name,
        metadata={},
        start={},
        rest={},
    )


def warm(project: Project, parent: Workspace | None, root: Path) -> tuple[str, ...]:
    """Copy the directories that the settings name into the new workspace at `root`.

    Returns those that came along. One that is not ignored, not there, or there already does not
    count; one that cannot be copied whole is taken out again.
    """
    names = project.settings.forks_warm
    if not names or parent is None or not _are_same(Path(parent.path), root):
        return ()
    source = Path(parent.path)
    asked = [os.fsencode(name.strip("/")) for name in names]
    ignored = ignored_among(project.snapshots, parent.task_id, source, asked)
    return tuple(
        os.fsdecode(name)
        for name in asked
        if name in ignored and _copied(source / os.fsdecode(name), root / os.fsdecode(name))
    )


def _are_same(one: Path, other: Path) -> bool:
    return all(
        read_small(one / name, _LARGEST) == read_small(other / name, _LARGEST)
        for name in _LOCK_FILES
    )


def _copied(source: Path, target: Path) -> bool:
    if source.is_symlink() or not source.is_dir() or os.path.lexists(target):
        return False
    try:
        for directory, names, files in os.walk(os.fsencode(source)):
            below = os.path.relpath(directory, os.fsencode(source))
            place = os.path.join(os.fsencode(target), below)
            os.makedirs(place, exist_ok=True)
            links = [name for name in names if os.path.islink(os.path.join(directory, name))]
            for name in (*files, *links):
                copy_entry(os.path.join(directory, name), os.path.join(place, name))
    except (SidingError, OSError):  # somebody changes it, or the disk is full: the fork goes cold
        remove_tree(target)
        return False
    return True


def keep(project: Project, fork: Task, name: str = "", *, switch: bool = False) -> Started:
    """Start a task of the board from the present state of a fork.

    As with every task that starts from another one, the change of the fork and that of its parent
    are the new task's: its diff shows them, an apply applies them. The fork stays as it is, and
    names the task that it became. Raises the errors of `start_from`.
    """
    parentage = Parentage.of(fork)
    if parentage is None:
        raise UsageError(f"task {fork.name!r} is on the board already")
    request = StartRequest(name=name or fork.name, switch=switch)
    started = start_from(project, request, f"task:{fork.id}")
    current = project.tasks.load(fork.id)
    before = Parentage.of(current) or parentage
    project.tasks.save(with_parentage(current, before._replace(kept=started.task.id)))
    return started
