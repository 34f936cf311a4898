"""Find the decisions that are gates: questions whose answer lets a task leave a phase.

A gate that asks a question itself (`ask:` in the settings) uses a reserved key. A gate that waits
for a decision (`decision:`) names the key under which an agent asks. Only a person may open a gate,
so neither kind can be answered or cancelled with the dashboard's key alone.
"""

import re
from typing import TYPE_CHECKING

from siding.asking.decisions.record import Origin
from siding.ground.errors import SidingError, UsageError
from siding.ground.namedtuples import NamedTuple

if TYPE_CHECKING:  # not imported at run time, to keep commands about decisions fast
    from siding.record.phases.store import FlowStatus
    from siding.record.place.project import Project

_PREFIX = "gate:"
_UNKNOWN = "of a plan that cannot be read"


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
