"""Bring the recorded state of a task into the new workspace of another one.

Files come byte for byte with their permissions, HEAD's commits with what is staged. Not taken along
are ignored files, an unfinished merge or rebase (a rebase would move the other task's branch), the
phases, and commits that a rollback of files alone had gone back from.
"""

from siding.applying.content import Sources, bench_for
from siding.applying.rolled_back_commits import gone_back
from siding.ground.errors import NotFound
from siding.ground.git.errors import SnapshotDamaged, said_by
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.record.acts.skeleton import Work, complete, working
from siding.record.ledger.draft import Draft
from siding.record.ledger.kinds import BASE
from siding.record.ledger.left_behind import newest_clean
from siding.record.ledger.move_details import RollbackDetail
from siding.record.ledger.run_details import CheckpointDetail
from siding.record.ledger.step import Step
from siding.record.place.locks import Hold, holding_task
from siding.record.place.project import Project
from siding.record.recording.freed import refuse_freed
from siding.record.recording.line_base import line_base, no_base
from siding.record.recording.opening import open_anywhere
from siding.record.recording.steps import step as find_step
from siding.record.restoring.act import Going, RestoreAct, Restored, RestorePlan
from siding.record.restoring.git_plan import GitRestoration, under_way
from siding.record.restoring.rollback import destination_of
from siding.record.restoring.survey import Destination, RestoreRequest
from siding.record.snapshots.coverage import Coverage
from siding.record.snapshots.git_details import GitDetails, details_of
from siding.record.snapshots.git_state import GitState, recorded_state
from siding.record.snapshots.scratch import place_for
from siding.record.snapshots.store import APPLIES
from siding.record.tasks.registry import Workspace
from siding.record.tasks.task import Task, TaskBusy
from siding.record.traps.marks import mark_of, mark_sandboxed


class TaskState(NamedTuple):
    """A recorded state of a task, as another one can take it.

    `step` is the id of the step, or "base". `base` is the commit that the task's change was counted
    from then: after a sync, the one that it brought in. `head` is the commit that the new branch
    will be at, `details` what is staged on it. `notes` say what is not taken along.
    """

    task: Task
    workspace: Workspace
    destination: Destination
    step: str
    base: Sha
    head: Sha
    details: GitDetails
    notes: tuple[str, ...]


def state_of_task(project: Project, task: Task, step: str) -> TaskState:
    """Return the state of a task after a step, at the base, or ("") its present one.

    For the present one, changes since the last step are recorded first. Raises NotFound, and
    SnapshotDamaged if the state is lost or not whole.
    """
    notes = _brought_up_to_date(project, task) if not step else ()
    workspace = project.registry.of_task(task.id)
    if workspace is None or not workspace.base_snapshot:
        raise no_base(task)
    found = _step(project, task, step)
    destination = destination_of(workspace, found)
    destination = destination._replace(name=f"task {task.name}, {destination.name}")
    if found is not None and found.number <= workspace.lost_until:
        raise SnapshotDamaged(
            f"the snapshot of {destination.name} is lost",
            hint="`siding doctor` says what else is; a later step may be whole",
        )
    refuse_freed(project, destination.name, destination.snapshot)
    _require_whole(project, workspace, destination)
    then = recorded_state(project.snapshots, task.id, workspace.branch, destination.snapshot)
    head = then.head or workspace.base_commit
    details, told = _staged(project, then)
    clean = _without_gone_back(project, task, workspace, head)
    if clean != head:
        head, details = clean, GitDetails()
        told += (
            "commits that it had gone back from are not taken along: their files count as "
            "uncommitted",
        )
    return TaskState(
        task=task,
        workspace=workspace,
        destination=destination,
        step=BASE if found is None else found.id,
        base=line_base(project, workspace, 0 if found is None else found.number).commit,
        head=head,
        details=details,
        notes=(*notes, *told),
    )


def _brought_up_to_date(project: Project, task: Task) -> tuple[str, ...]:
    """Record the changes since the task's last step, unless it is busy."""
    try:
        with holding_task(project, task.id, "another task starts from it") as hold:
            open_anywhere(project, task, hold).settle()
    except TaskBusy:
        return (f"task {task.name} is busy: its state is that of its last recorded step",)
    return ()


def _step(project: Project, task: Task, step: str) -> Step | None:
    """Return the step that is meant; None for the base."""
    if step in (BASE, "0"):
        return None
    if step:
        return find_step(project, task.id, step)[1]
    return project.ledger(task.id).last()


def _require_whole(project: Project, workspace: Workspace, destination: Destination) -> None:
    """Raise SnapshotDamaged if an object of the state is missing. Nothing was made until then."""
    store = project.snapshots
    trees = [f"{destination.snapshot}^{{tree}}", "--not", f"{workspace.base_commit}^{{tree}}"]
    listing = ["rev-list", "--objects", "--quiet", "--missing=allow-promisor", *trees, "--"]
    done = store.git.attempt(store.place(), listing)
    if done.returncode:
        said = "; ".join(said_by(done.stderr)) or "git did not say which part"
        raise SnapshotDamaged(
            f"the snapshot of {destination.name} is lost or not whole: {said}",
            hint="`siding verify` names what is lost; another step may be whole",
        )


def _staged(project: Project, then: GitState) -> tuple[GitDetails, tuple[str, ...]]:
    """Return what is staged in a state, without a git command under way."""
    details = details_of(project.snapshots, then)
    if not details.files:
        return GitDetails(entries=details.entries or ()), ()
    words = " and ".join(under_way(details.files)) or "git command"
    return GitDetails(), (
        f"a {words} under way is not taken along: the files are as they were, uncommitted",
    )


def _without_gone_back(project: Project, task: Task, workspace: Workspace, head: Sha) -> Sha:
    """Return the newest commit up to `head` with nothing in it that was gone back from."""
    base = workspace.base_commit
    if head == base:
        return head
    place = place_for(project.snapshots, APPLIES, project.app.random_bytes(8).hex())
    with bench_for(project, project.snapshots, place) as bench:
        found = gone_back(Sources(project, task, workspace, bench, Coverage()), [head])
    if not found.behind(head):
        return head
    return Sha(newest_clean(found.graph, head, found.commits, base))


class TakeStateAct(RestoreAct[Step]):
    """Set a new workspace to the recorded state of another task, as its first step."""

    def __init__(self, state: TaskState, title: str) -> None:
        self.what = f"starting from task {state.task.name}"
        self._state = state
        self._title = title

    def going(self, work: Work) -> Going:
        # The step is a checkpoint (see `draft`): it does not go back to anything of its own task.
        return Going(
            self._state.destination, RestoreRequest(), RollbackDetail(), even_incomplete=True
        )

    def git_part(self, work: Work, now: GitState, snapshot: Sha) -> GitRestoration | None:
        """Return the way to the state's commit, on the new task's own branch."""
        state, branch = self._state, work.recorder.workspace.branch
        present = details_of(work.project.snapshots, now)
        wanted = state.details._replace(documents=present.documents)
        if (now.head, present) == (state.head, wanted):
            return None
        return GitRestoration(
            now=now,
            then=GitState(head=state.head, branch=branch, tip=state.head, details=None),
            task_branch=branch,
            tip=None if now.tip == state.head else state.head,
            branch=branch,
            present=present,
            wanted=wanted,
        )

    def draft(self, work: Work, plan: RestorePlan) -> Draft | None:
        message = f"started from {self._title}"
        taken = self._state.destination.snapshot
        return Draft(CheckpointDetail(message=message, origin="from", taken=taken))

    def restored(self, work: Work, restored: Restored) -> Step:
        return restored.step


def take_state(project: Project, task: Task, hold: Hold, state: TaskState, title: str) -> Step:
    """Set the workspace of `task` to the state. The caller holds the task's lock."""
    if mark_of(project, state.task.id) is not None:
        mark_sandboxed(project, task.id)
    with working(project, task.id, hold) as work:
        return complete(work, hold, TakeStateAct(state, title))


__all__ = ["NotFound", "TaskState", "state_of_task", "take_state"]
