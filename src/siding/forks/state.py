"""A recorded state of a task, as forks and views are made from it."""

from siding.forks.git.held import Held, store_details
from siding.ground.git.errors import SnapshotDamaged
from siding.ground.ids import Sha
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
from siding.record.snapshots.git_details import parse
from siding.record.snapshots.git_state import recorded_state
from siding.record.tasks.task import Task


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
