"""A recorded state of a task, as forks and views are made from it.

`Held` is that state as a worktree is in it; `write_base` stores the snapshot with which a fork of
it begins.
"""

from pathlib import Path

from siding.ground.files.durable import flush_dir
from siding.ground.git import objects
from siding.ground.git.errors import SnapshotDamaged
from siding.ground.ids import Sha, TaskId
from siding.ground.namedtuples import NamedTuple
from siding.record.ledger.kinds import BASE
from siding.record.ledger.step import Step
from siding.record.place.locks import holding_task
from siding.record.place.project import Project
from siding.record.recording.freed import refuse_freed
from siding.record.recording.line_base import line_base, no_base
from siding.record.recording.opening import open_anywhere
from siding.record.recording.steps import step as find_step
from siding.record.restoring.git_plan import under_way
from siding.record.restoring.rollback import destination_of
from siding.record.snapshots.git_details import GitDetails, details_of, parse
from siding.record.snapshots.git_state import GitState, recorded_state
from siding.record.snapshots.modes import named_in
from siding.record.snapshots.store import SnapshotStore
from siding.record.tasks.task import Task

_REFLOG = Path("logs/HEAD")


class Held(NamedTuple):
    """A snapshot, and where HEAD is in that state: detached.

    `details` is the commit with what the index has differently from HEAD; None if there is nothing.
    """

    snapshot: Sha
    head: Sha
    details: Sha | None = None

    def git_state(self) -> GitState:
        """Return it as snapshots say it. A fork has no branch before it is kept."""
        return GitState(head=self.head, branch=None, tip=None, details=self.details)


class ForkState(NamedTuple):
    """A state to make forks and views from. Get one from `recorded`, and use it for all of them.

    `step` is the id of the step after which the task was in it, or "base". `base` is the commit
    that the task's change was counted from then. `notes` say what is not taken along.
    """

    task: Task
    step: str
    held: Held
    base: Sha
    notes: tuple[str, ...] = ()

    @property
    def snapshot(self) -> Sha:
        return self.held.snapshot


def recorded(project: Project, task: Task, step: str = "") -> ForkState:
    """Return the state of a task after a step, at the base, or ("") its present one.

    For the present one, changes since the last step are recorded first: that waits for the task's
    lock, and does not mind runs that live. Raises NotFound, SnapshotFreed, and SnapshotDamaged if
    the state is lost.
    """
    found = _step(project, task, step)
    workspace = project.registry.of_task(task.id)
    if workspace is None or not workspace.base_snapshot:
        raise no_base(task)
    destination = destination_of(workspace, found)
    if found is not None and found.number <= workspace.lost_until:
        raise SnapshotDamaged(
            f"the snapshot of {destination.name} is lost",
            hint="`siding doctor` says what else is; a later step may be whole",
        )
    refuse_freed(project, destination.name, destination.snapshot)
    store = project.snapshots
    then = recorded_state(store, task.id, workspace.branch, destination.snapshot)
    at = int(project.app.clock.now().timestamp())
    details, was_under_way = store_details(store, then, at=at)
    notes: tuple[str, ...] = ()
    if was_under_way:
        words = " and ".join(under_way(_files(project, then.details))) or "git command"
        notes += (f"a {words} under way is not taken along: its files count as uncommitted",)
    if destination.coverage is not None and not destination.coverage.complete:
        notes += ("its snapshot is incomplete: `siding show` of the step names what it lacks",)
    return ForkState(
        task=task,
        step=BASE if found is None else found.id,
        held=Held(destination.snapshot, then.head or workspace.base_commit, details),
        base=line_base(project, workspace, 0 if found is None else found.number).commit,
        notes=notes,
    )


def _files(project: Project, details: Sha | None) -> dict[str, Sha]:
    assert details is not None
    found = parse(project.snapshots.read_commit(details).message)
    return dict(found.files) if found is not None else {}


def _step(project: Project, task: Task, step: str) -> Step | None:
    """Return the step that is meant; None for the base."""
    if step in (BASE, "0"):
        return None
    if step:
        return find_step(project, task.id, step)[1]
    with holding_task(project, task.id, "making a fork of its state", beside_runs=True) as hold:
        recorder = open_anywhere(project, task, hold)
        recorder.settle()
        return recorder.ledger.last()


def store_details(store: SnapshotStore, state: GitState, *, at: int) -> tuple[Sha | None, bool]:
    """Return the commit with what is staged in a state, as a fork can have it, durably stored.

    The documents of the task and an unfinished git command stay behind. The second value says
    whether there was such a command: then nothing is taken along, as what is staged is a part of
    it. Raises SnapshotDamaged.
    """
    found = details_of(store, state)
    if found.files:
        return None, True
    wanted = GitDetails(entries=found.entries or ())
    if wanted.is_plain:
        return None, False
    if wanted == found:
        return state.details, False
    object_format = store.repository.object_format
    tree = objects.write_object(store.objects, "tree", wanted.tree_body(), object_format)
    commit = objects.Commit(tree=tree, parents=(), message=wanted.text())
    body = objects.commit_body(commit, at=at)
    return objects.write_object(store.objects, "commit", body, object_format), False


def write_base(
    store: SnapshotStore, task_id: TaskId, held: Held, base: Sha, git_dir: Path, *, at: int
) -> Sha:
    """Store the snapshot with which a fork begins: the files and permissions of `held`.

    `base` is the commit that the fork's change is counted from, and its first parent, so that the
    fork's snapshots are a line of their own. Durable; no ref is changed.
    """
    origin = store.read_commit(held.snapshot)
    modes = named_in(origin)
    reflog = _size(git_dir / _REFLOG)
    message = (
        f"base base\n\nTask: {task_id}\nStep: base\nKind: base\nHead: {held.head}\n"
        f"Reflog: {reflog}{held.git_state().trailers()}"
        + (f"\nModes: {modes}" if modes else "")
        + f"\nFork: {held.snapshot}"
    )
    head = held.head if held.head != base else None
    parents = tuple(each for each in (base, head, held.details, modes) if each)
    commit = objects.Commit(tree=origin.tree, parents=parents, message=message)
    body = objects.commit_body(commit, at=at)
    sha = objects.write_object(store.objects, "commit", body, store.repository.object_format)
    flush_dir(store.objects)
    return sha


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
