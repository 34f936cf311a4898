"""The act that moves a task through its phases. Each move is a commit on the task's branch."""

from siding.applying.content import LeftOut
from siding.applying.git.commits import RawCommit
from siding.ground.git.paths import quote_path
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.phases.gates import GateClosed
from siding.phases.move_plan import (
    Crossing,
    MadeMove,
    PhaseRequest,
    PlannedMove,
    SeenFiles,
    crossing,
    entry_of,
    make_move,
    plan_move,
    require_same,
    workspace_of,
)
from siding.record.acts.skeleton import Act, Done, Ended, Work
from siding.record.ledger.draft import Draft
from siding.record.ledger.intents import Intent
from siding.record.ledger.move_details import PhaseDetail
from siding.record.moving.model import UNCHANGED
from siding.record.phases.store import (
    FlowStatus,
    HistoryEntry,
    PassedGate,
    PhaseStore,
    commit_message,
)
from siding.record.place.events import PhaseMoved
from siding.record.place.project import Project
from siding.record.tasks.task import Task
from siding.record.unfinished.phases import phase_lock, settle_cut_off


class CheckedGates(NamedTuple):
    """Gates that held. They are checked before any lock is taken: their commands are steps, which
    take the task's lock themselves.

    `tree` is the workspace's tree after the last command, None if no gate was a command.
    """

    there: FlowStatus
    gates: tuple[PassedGate, ...]
    tree: Sha | None


class MovedPhase(NamedTuple):
    """The result of a move. `left_out` are paths that no snapshot holds; the commit lacks them.

    `index_agrees`: the workspace's index was set to the new commit. It is False if another git held
    the index or an error occurred.
    """

    task: Task
    status: FlowStatus
    entry: HistoryEntry
    left_out: tuple[str, ...]
    index_agrees: bool
    kept_by: str  # the error that the step or the index failed with; the next command does them
    gone_back: tuple[RawCommit, ...]  # commits that the branch no longer has: gone back from


class PhaseMoveAct(Act[PlannedMove, MadeMove, MovedPhase]):
    """Commit the workspace as it is, move the task's branch, and write the new status."""

    unchanged = UNCHANGED
    beside_runs = True

    def __init__(self, request: PhaseRequest, checked: CheckedGates | None, inside: str) -> None:
        self.what = f"phase {request.move.value}"
        self.wait = request.wait
        self.moved: MovedPhase | None = None  # set as soon as the branch has moved
        self._request = request
        self._checked = checked
        self._inside = inside
        self._keep_fds: tuple[int, ...] = ()

    def plan(self, work: Work) -> PlannedMove:
        project, task, recorder = work.project, work.task, work.recorder
        lock = work.resources.enter_context(phase_lock(project, task, self.what))
        self._keep_fds = (lock.fd,)
        store = PhaseStore(recorder.layout.root)
        settle_cut_off(project, task, store)
        crossed = crossing(project, store, self._request)
        seen = SeenFiles(recorder.snapshots.store, recorder.seen.tree, recorder.seen.coverage)
        gates = self._gates(crossed, seen)
        entry = entry_of(project, self._request, crossed.position, gates, self._inside)
        return plan_move(project, task, workspace_of(project, task), crossed, entry, seen)

    def _gates(self, crossed: Crossing, seen: SeenFiles) -> tuple[PassedGate, ...]:
        if self._checked is None:
            return ()
        if self._checked.there != crossed.there:
            raise GateClosed("the task was moved while its gates ran", hint="try again")
        require_same(self._checked.tree, seen)
        return self._checked.gates

    def draft(self, work: Work, plan: PlannedMove) -> Draft:
        entry = plan.entry
        return Draft(
            PhaseDetail(
                message=commit_message(entry).partition("\n")[0],
                action=entry.action,
                phase=entry.phase,
                phase_step=entry.step,
                branch=plan.step.branch,
                commit_sha=plan.step.new,
            )
        )

    def carry_out(self, work: Work, plan: PlannedMove, intent: Intent) -> Ended[MadeMove]:
        store = PhaseStore(work.recorder.layout.root)
        made = make_move(work.project, store, plan, keep_fds=self._keep_fds)
        self.moved = moved_phase(work.task, plan, made)
        tell_moved(work.project, work.task, plan.entry)
        return Ended(intent, intent.draft.completed(), made)

    def result(self, work: Work, plan: PlannedMove, done: Done[MadeMove] | None) -> MovedPhase:
        assert done is not None
        return moved_phase(work.task, plan, done.outcome)


def moved_phase(task: Task, plan: PlannedMove, made: MadeMove) -> MovedPhase:
    """Return the result of a move that was made."""
    return MovedPhase(
        task=task,
        status=plan.intent.after,
        entry=plan.entry,
        left_out=tuple(_shown(each) for each in plan.left_out),
        index_agrees=made.index_agrees,
        kept_by=made.kept_by,
        gone_back=plan.gone_back,
    )


def _shown(left_out: LeftOut) -> str:
    return f"{quote_path(left_out.path)}: {left_out.why}"


def tell_moved(project: Project, task: Task, entry: HistoryEntry) -> None:
    """Emit the event of a move."""
    project.events.emit(PhaseMoved(task, entry.action, entry.phase, entry.step, entry.git_commit))
