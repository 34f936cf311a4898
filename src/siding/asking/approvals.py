"""Questions whether a run's agent may do something, or go on: they end with the run.

Nothing can be done with their answers once the run is over. Other questions outlive the run: who
asks again with the same words gets the answer.
"""

from contextlib import suppress

from siding.asking.decisions.record import (
    AlreadyClosed,
    Decision,
    DecisionChanged,
    DecisionMove,
    Via,
    move_decision,
)
from siding.asking.decisions.store import DecisionStore
from siding.ground.errors import SidingError
from siding.ground.ids import TaskId
from siding.record.place.project import Project
from siding.record.runs.store import Runs

_CALL, _LIMIT = "call", "limit"


def key_of_call(run_id: str, call: str) -> str:
    """Return the key of the question about a call that the agent of a run is about to make."""
    return f"{_CALL} {run_id} {call}"


def key_of_limit(run_id: str, name: str, granted: str) -> str:
    """Return the key of the question whether the agent of a run may use more than a limit."""
    return f"{_LIMIT} {run_id} {name} {granted}"


def waiting_run(decision: Decision) -> str:
    """Return the run that ends this question when it ends; "" for other questions."""
    origin = decision.origin
    kind, _, rest = origin.key.partition(" ")
    is_approval = origin.key_named and origin.task_id and kind in (_CALL, _LIMIT)
    run = rest.partition(" ")[0]
    return run if is_approval and run and run == origin.step_id else ""


def is_over(project: Project, decision: Decision) -> bool:
    """Tell whether an open question has ended, because its run has; then record that it has.

    Where nothing can be written, as in a sandbox, it has ended all the same.
    """
    run = waiting_run(decision)
    if not run:
        return False
    runs = Runs(project.task_layout(TaskId(decision.origin.task_id)))
    if any(each.id == run for each in runs.live()):
        return False
    end_question(project, decision, f"its run {run} has ended")
    return True


def end_question(project: Project, decision: Decision, reason: str) -> None:
    """Cancel a question that nobody waits for any more; an answer that came first counts."""
    now = project.app.clock.now().astimezone().isoformat(timespec="seconds")
    with suppress(AlreadyClosed, SidingError, OSError):
        state = move_decision(decision.state, DecisionMove.CANCEL)
        closed = decision._replace(state=state, completed_at=now, via=Via.RUN, reason=reason)
        recorded = DecisionStore(project.layout.decisions_dir).close(closed)
        project.events.emit(DecisionChanged(recorded, "cancelled"))


def end_questions(project: Project, task_id: TaskId, run_id: str) -> None:
    """Cancel the questions of a run that has ended."""
    store = DecisionStore(project.layout.decisions_dir)
    for session_id in store.open_ids():
        with suppress(SidingError):
            decision = store.load(session_id)
            if decision.origin.task_id == task_id and waiting_run(decision) == run_id:
                end_question(project, decision, f"its run {run_id} has ended")
