"""The two kinds of decision that are more than a question: gates, and approvals.

A gate is a question whose answer lets a task leave a phase. A gate that asks a question itself
(`ask:` in the settings) uses a reserved key. A gate that waits for a decision (`decision:`) names
the key under which an agent asks. Only a person may open a gate, so neither kind can be answered or
cancelled with the dashboard's key alone.

An approval is a question whether a run's agent may do something, or go on: it ends with the run.
Nothing can be done with its answer once the run is over. Other questions outlive the run: who asks
again with the same words gets the answer.
"""

import re
from contextlib import suppress
from typing import TYPE_CHECKING

from siding.asking.decisions.record import (
    AlreadyClosed,
    Decision,
    DecisionChanged,
    DecisionMove,
    Origin,
    Via,
    move_decision,
)
from siding.asking.decisions.store import DecisionStore
from siding.ground.errors import SidingError, UsageError
from siding.ground.ids import TaskId
from siding.ground.namedtuples import NamedTuple
from siding.record.place.project import Project
from siding.record.runs.store import Runs

if TYPE_CHECKING:
    from siding.asking.views import DecisionView
    from siding.record.phases.store import FlowStatus

_PREFIX = "gate:"
_UNKNOWN = "of a plan that cannot be read"
_CALL, _LIMIT = "call", "limit"


class GateKeys:
    """The keys of the decisions that gates wait for. The plan is read on first use, and once."""

    def __init__(self, project: "Project") -> None:
        self._project = project
        self._wanted: tuple[_Wanted, ...] | None = None

    def phase_of(self, origin: Origin) -> str:
        """Return the phase that the answer lets a task leave; "" for an ordinary question."""
        if not origin.key_named:
            return ""
        if origin.key.startswith(_PREFIX):
            return _phase_in(origin.key)
        if self._wanted is None:
            self._wanted = _wanted(self._project)
        found = (each.phase for each in self._wanted if each.key.fullmatch(origin.key))
        return next(found, "")


class _Wanted(NamedTuple):
    """A decision that a gate waits for: a pattern for its key in any task, and the gate's phase."""

    key: "re.Pattern[str]"
    phase: str


def key_of_gate(task_id: str, status: "FlowStatus", number: int) -> str:
    """Return the key of a gate's own question.

    The key contains the step within the phase: after a "no" the task can move on, and the gate asks
    again.
    """
    at = f"{status.current_phase}:{status.current_step}"
    return f"{_PREFIX}{task_id}:{status.task_id}:{at}:{number}"


def refuse_key_of_gates(key: str | None) -> None:
    """Raise UsageError for a key that is reserved for gates."""
    if key is not None and key.startswith(_PREFIX):
        raise UsageError(
            f"--key {key!r}: keys that begin with {_PREFIX!r} are for gates of the phases",
            hint="take another --key",
        )


def _wanted(project: "Project") -> tuple[_Wanted, ...]:
    from siding.record.phases.plan import GateKind
    from siding.record.place.phase_plan import configured

    try:
        plan = configured(project).plan
    except SidingError:  # the plan cannot be read: treat every key that was chosen as a gate's
        return (_Wanted(key=_pattern("{task}"), phase=_UNKNOWN),)
    return tuple(
        _Wanted(key=_pattern(gate.text), phase=phase)
        for phase, gates in plan.gates.items()
        for gate in gates
        if gate.kind is GateKind.DECISION
    )


def _pattern(key: str) -> re.Pattern[str]:
    text = re.escape(key)
    for name in ("task", "pass"):
        text = text.replace(re.escape(f"{{{name}}}"), ".+")
    return re.compile(text, re.DOTALL)


def _phase_in(key: str) -> str:
    """Return the phase in ``gate:<task>:<pass>:<phase>:<step>:<number>``."""
    rest = key.split(":", 3)[3] if key.count(":") >= 5 else ""
    return rest.rsplit(":", 2)[0] or _UNKNOWN


def key_of_call(task_id: str, run_id: str, call: str) -> str:
    """Return the key of the question about a call that the agent of a run is about to make.

    Every task has a run r1, and many agents number their calls: a key without the task would be
    answered by what was said in another one.
    """
    return f"{_CALL} {run_id} {task_id} {call}"


def key_of_limit(task_id: str, run_id: str, name: str, granted: str) -> str:
    """Return the key of the question whether the agent of a run may use more than a limit."""
    return f"{_LIMIT} {run_id} {task_id} {name} {granted}"


def waiting_run(decision: Decision) -> str:
    """Return the run that ends this question when it ends; "" for other questions."""
    return run_of_approval(decision.origin)


def run_of_approval(origin: "Origin | DecisionView") -> str:
    """Return the run whose agent may do something or go on by the answer; "" for none."""
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
