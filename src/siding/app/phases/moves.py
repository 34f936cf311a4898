"""Move a task through its phases: check the gates, then move, as a step or inside the running one.

A command of a step moves without a step of its own, because the running step holds the task's lock
and records what the command does.
"""

from siding.app.acts.skeleton import perform
from siding.app.life.recovery import recover_cut_off
from siding.app.phases.gates import GateClosed, Leaving, as_step, pass_gates, within_step
from siding.app.phases.move_act import (
    CheckedGates,
    MovedPhase,
    PhaseMoveAct,
    moved_phase,
    tell_moved,
)
from siding.app.phases.move_plan import (
    PhaseRequest,
    SeenFiles,
    crossing,
    entry_of,
    make_move,
    plan_move,
    workspace_of,
)
from siding.app.place.phase_plan import configured
from siding.app.place.project import Project
from siding.app.place.selection import select
from siding.app.recording.calling_step import calling_steps
from siding.app.recording.snapshots import TaskSnapshots
from siding.app.unfinished.phases import finish_cut_off, phase_lock, settle_cut_off
from siding.errors import SidingError, UsageError
from siding.ids import Sha
from siding.ledger.intents import Intents
from siding.phases.states import PhaseMove
from siding.phases.status import PassedGate
from siding.phases.store import PhaseStore
from siding.tasks.states import TaskState
from siding.tasks.task import Task

__all__ = ["MovedPhase", "PhaseRequest", "move"]

LONGEST_SUMMARY = 4000  # characters


def move(project: Project, request: PhaseRequest) -> MovedPhase:
    """Move the task: check the gates, make the commit, record it.

    Raises IllegalTransition, GateClosed, and the errors of making a commit. After these the task is
    in the phase it was in.
    """
    request = request._replace(summary=_checked(request.summary))
    recover_cut_off(project)
    task = select(project, request.task)
    if task.status is TaskState.CLOSED:
        raise UsageError(f"task {task.name!r} is closed", hint="`siding task reopen` opens it")
    inside = _calling_step(project, task)
    if inside and request.move is PhaseMove.START:
        _refuse_start_behind_gate(project, request.target)
    if _inside_its_step(project, task):
        return _move_inside(project, task, request, inside)
    act = PhaseMoveAct(request, _gates_before(project, task, request), inside)
    try:
        return perform(project, task.id, act)
    except (SidingError, OSError):
        if act.moved is None:
            raise
        return act.moved  # the branch has moved; the next command records the step


def _move_inside(project: Project, task: Task, request: PhaseRequest, inside: str) -> MovedPhase:
    """Move inside the running step, under the lock of the phases alone; the step records it."""
    with phase_lock(project, task, f"phase {request.move.value}") as lock:
        store = PhaseStore(project.task_layout(task.id).root)
        settle_cut_off(project, task, store)
        crossed = crossing(project, store, request)
        workspace = workspace_of(project, task)
        gates: tuple[PassedGate, ...] = ()
        if crossed.there is not None and request.move is PhaseMove.NEXT_PART:
            leaving = Leaving(project, task, workspace, crossed.there)
            gates = pass_gates(leaving, crossed.plan, within_step(leaving))
        entry = entry_of(project, request, crossed.position, gates, inside)
        with TaskSnapshots(project, workspace).look() as seen:
            files = SeenFiles(seen.store, seen.tree, seen.coverage)
            planned = plan_move(project, task, workspace, crossed, entry, files)
        made = make_move(project, store, planned, keep_fds=(lock.fd,))
        tell_moved(project, task, planned.entry)
        return moved_phase(task, planned, made, recorded=True)


def _gates_before(project: Project, task: Task, request: PhaseRequest) -> CheckedGates | None:
    if request.move is not PhaseMove.NEXT_PART:
        return None
    finish_cut_off(project, task)
    crossed = crossing(project, PhaseStore(project.task_layout(task.id).root), request)
    if crossed.there is None:
        return None
    leaving = Leaving(project, task, workspace_of(project, task), crossed.there)
    gates = pass_gates(leaving, crossed.plan, as_step(leaving))
    last = project.ledger(task.id).last() if any(each.step_id for each in gates) else None
    tree = None
    if last is not None and last.snapshot:
        tree = project.snapshots.read_commit(Sha(last.snapshot)).tree
    return CheckedGates(there=crossed.there, gates=gates, tree=tree)


def _inside_its_step(project: Project, task: Task) -> bool:
    """Tell whether a running step of the task started this command. It holds the task's lock."""
    tokens = project.app.env.get("SIDING_STEP_TOKEN", "").split(":")  # a step in a step has two
    begun = Intents(project.task_layout(task.id)).all()
    return any(bool(intent.token) and intent.token in tokens for intent in begun)


def _calling_step(project: Project, task: Task) -> str:
    """Return the id of the step that started this command, with its task if that is another one."""
    found = calling_steps(project)
    own = [each.step_id for each in found if each.task_id == task.id]
    return own[0] if own else str(found[0]) if found else ""


def _refuse_start_behind_gate(project: Project, target: str | None) -> None:
    """Raise GateClosed if phases before `target` have gates, which a new pass would skip."""
    plan = configured(project).plan
    if target not in plan.names:
        return  # the move itself says so
    before = plan.names[: plan.names.index(target)]
    gated = next((phase for phase in before if plan.gates.get(phase)), None)
    if gated is not None:
        raise GateClosed(
            f"inside a step a pass cannot begin in {target!r}: phase {gated!r} before it has gates",
            hint=f"begin in {gated!r} or before it, or let a person begin",
        )


def _checked(summary: str) -> str:
    text = summary.strip().replace("\r\n", "\n")
    if not text:
        raise UsageError("the summary is blank", hint="say in a few words what was done, or why")
    if len(text) > LONGEST_SUMMARY or "\0" in text:
        raise UsageError(
            f"the summary has {len(text)} characters", hint=f"{LONGEST_SUMMARY} is the most"
        )
    return text
