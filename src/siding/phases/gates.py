"""Check the gates of a phase before a task leaves it: commands, decisions, a person's yes.

If a gate does not hold, the move is refused and nothing is changed. Each result is emitted as an
event. Gates that held are stored in the history entry of the move.
"""

from collections.abc import Callable

from siding.asking.kinds import key_of_gate
from siding.asking.lookup import with_key
from siding.asking.question import ask
from siding.ground.errors import SidingError
from siding.ground.namedtuples import NamedTuple
from siding.guard.hooks import repository_hooks
from siding.record.phases.plan import GateKind, PhaseGate
from siding.record.phases.store import FlowStatus, PassedGate
from siding.record.place.events import GateTried
from siding.record.place.phase_plan import Configured
from siding.record.place.project import Project
from siding.record.place.redaction import printable
from siding.record.tasks.registry import Workspace
from siding.record.tasks.task import Task


class GateClosed(SidingError):
    """A gate of the phase does not hold. `output` is the output of the gate's command, if any."""

    code = "gate_closed"

    def __init__(self, message: str, *, hint: str, output: str = "") -> None:
        super().__init__(message, hint=hint)
        self.output = output


class Leaving(NamedTuple):
    """A task that is to leave its present phase."""

    project: Project
    task: Task
    workspace: Workspace
    status: FlowStatus


Runner = Callable[[PhaseGate], PassedGate]


def pass_gates(leaving: Leaving, configured: Configured, run: Runner) -> tuple[PassedGate, ...]:
    """Check all gates of the present phase and return them. `run` runs the command of a gate.

    Raises GateClosed for the first gate that does not hold.
    """
    phase = leaving.status.current_phase
    gates = configured.plan.gates.get(phase, ())
    if configured.from_repository and any(each.kind is GateKind.COMMAND for each in gates):
        _require_trust(leaving.project, phase)
    return tuple(
        _command(leaving, gate, run)
        if gate.kind is GateKind.COMMAND
        else _decision(leaving, gate, number)
        for number, gate in enumerate(gates, start=1)
    )


def _require_trust(project: Project, phase: str) -> None:
    if not repository_hooks(project).trusted:
        raise GateClosed(
            f"the gates of phase {phase!r} come with the repository, and are not allowed yet",
            hint="`siding trust` shows and allows them",
        )


def _command(leaving: Leaving, gate: PhaseGate, run: Runner) -> PassedGate:
    try:
        done = run(gate)
    except SidingError as error:
        _tell(leaving, gate, held=False)
        raise GateClosed(
            f"phase {leaving.status.current_phase!r} cannot be left: gate {gate.text!r} did not "
            f"run: {error.message}",
            hint=error.hint or "nothing was moved; try again",
        ) from error
    more = {"step_id": done.step_id} if done.step_id else {}
    _tell(leaving, gate, held=done.exit_code == 0, exit_code=done.exit_code, **more)
    if done.exit_code != 0:
        raise GateClosed(
            f"phase {leaving.status.current_phase!r} cannot be left: gate {gate.text!r} ended with "
            f"{done.exit_code}",
            hint="nothing was moved; mend it and try again",
            output=done.output,
        )
    return done


def as_step(leaving: Leaving) -> Runner:
    """Return a runner that runs a gate's command like `siding run`: as a step, with policy and
    sandbox."""

    def run(gate: PhaseGate) -> PassedGate:
        from siding.running.run import RunRequest, StdinPlan, Terminal
        from siding.running.run import run as run_command

        done = run_command(
            leaving.project,
            RunRequest(argv=("/bin/sh", "-c", gate.text), task=leaving.task.id),
            Terminal(stdin=StdinPlan.NULL, pty=False, out=2, err=2),
        )
        return PassedGate(
            kind=gate.kind.value,
            text=gate.text,
            exit_code=done.exit_code,
            duration_ms=done.step.duration_ms if done.step else 0,
            step_id=done.step.id if done.step else "",
        )

    return run


def _decision(leaving: Leaving, gate: PhaseGate, number: int) -> PassedGate:
    project, status = leaving.project, leaving.status
    phase = status.current_phase
    if gate.kind is GateKind.ASK:
        key = key_of_gate(leaving.task.id, status, number)
        wanted = gate.chosen or "yes"
        question = _question(leaving, gate)
        found = ask(project, question, key=key, task_id=leaving.task.id).decision
    else:
        key = gate.text.replace("{task}", leaving.task.id).replace("{pass}", status.task_id)
        wanted = gate.chosen
        decision = with_key(project, key)
        if decision is None:
            raise GateClosed(
                f"phase {phase!r} cannot be left: nobody has asked for the decision {key!r} yet",
                hint=f"siding decide --key {key} --file QUESTION.json",
            )
        found = decision
    if found.state != "answered":
        raise GateClosed(
            f"phase {phase!r} cannot be left: {found.title!r} is {found.state}",
            hint=f"siding decide answer {found.session_id}",
        )
    values = {value for item in found.items for value in item.values}
    _tell(leaving, gate, held=not wanted or wanted in values, session_id=found.session_id)
    if wanted and wanted not in values:
        raise GateClosed(
            f"phase {phase!r} cannot be left: the answer to {found.title!r} is not {wanted!r}",
            hint=f"`siding decide show {found.session_id}` shows it; a further step asks again"
            if gate.kind is GateKind.ASK
            else f"`siding decide show {found.session_id}` shows it",
        )
    return PassedGate(
        kind=gate.kind.value, text=gate.text, session_id=found.session_id, via=found.via
    )


def _question(leaving: Leaving, gate: PhaseGate) -> dict[str, object]:
    options = [{"value": "yes", "label": "Yes, go on"}, {"value": "no", "label": "No, not yet"}]
    last = leaving.status.history[-1].summary if leaving.status.history else ""
    item = {"id": 1, "title": gate.text, "options": options, "context": last[:2000]}
    return {
        "task": leaving.task.name,
        "source": f"gate of phase {leaving.status.current_phase}",
        "items": [item],
    }


def _tell(leaving: Leaving, gate: PhaseGate, *, held: bool, **more: object) -> None:
    found = {"kind": gate.kind.value, "text": printable(gate.text), "held": held, **more}
    leaving.project.events.emit(GateTried(leaving.task, leaving.status.current_phase, found))
