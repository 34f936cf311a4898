"""Move a task through its phases: check the gates, then move, as a step of its own.

A command of a run may move its task while the run lives. What the run changed until then is
recorded first.
"""

from typing import Any

from siding.ground.errors import SidingError, UsageError
from siding.ground.ids import Sha
from siding.phases.gates import GateClosed, Leaving, as_step, pass_gates
from siding.phases.move_act import (
    CheckedGates,
    MovedPhase,
    PhaseMoveAct,
)
from siding.phases.move_plan import (
    PhaseRequest,
    crossing,
    workspace_of,
)
from siding.record.acts.skeleton import perform
from siding.record.phases.states import PhaseMove
from siding.record.phases.store import PhaseStore
from siding.record.place.phase_plan import configured
from siding.record.place.project import Project
from siding.record.place.selection import select
from siding.record.recording.calling_step import calling_steps
from siding.record.tasks.task import Task, TaskState
from siding.record.unfinished.phases import finish_cut_off
from siding.record.workspaces.recovery import recover_cut_off

__all__ = ["MovedPhase", "PhaseRequest", "move", "moved_as_record"]

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
    _refuse_damaged(project, task, request)
    inside = _calling_step(project, task)
    if inside and request.move is PhaseMove.START:
        _refuse_start_behind_gate(project, request.target)
    act = PhaseMoveAct(request, _gates_before(project, task, request), inside)
    try:
        return perform(project, task.id, act)
    except (SidingError, OSError) as error:
        if act.moved is None:
            raise
        # The branch has moved; the next command records the step.
        return act.moved._replace(kept_by=act.moved.kept_by or str(error))


def moved_as_record(done: MovedPhase) -> dict[str, Any]:
    """Return a move as a JSON object. Its texts are untrusted."""
    entry = done.entry
    return {
        "task": done.task.id,
        "task_id": done.status.task_id,
        "action": entry.action,
        "phase": entry.phase,
        "step": entry.step,
        "summary": entry.summary,
        "git_commit": entry.git_commit,
        "gates": [gate._asdict() for gate in entry.gates],
        "left_out": list(done.left_out),
        "gone_back": [
            {"commit": each.sha[:12], "subject": each.subject} for each in done.gone_back
        ],
    }


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


def _calling_step(project: Project, task: Task) -> str:
    """Return the id of the step that started this command, with its task if that is another one."""
    found = calling_steps(project)
    own = [each.name for each in found if each.task_id == task.id]
    return own[0] if own else str(found[0]) if found else ""


def _refuse_damaged(project: Project, task: Task, request: PhaseRequest) -> None:
    """Raise DamagedFile if the status cannot be read, before anything is recorded.

    A new pass with `again` puts the file aside, and a move that was cut off writes it anew.
    """
    store = PhaseStore(project.task_layout(task.id).root)
    anew = request.again and request.move is PhaseMove.START
    if not anew and not store.has_intent():
        store.load()


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
