"""Which decisions are gates: questions whose answer lets a task leave a phase.

A gate that asks (`ask:` in the settings) has a key that nobody else can take; a gate that wants a
decision (`decision:`) names the key that an agent asks under. What a gate holds back is a person's
to release, so neither kind is answered or cancelled with the dashboard's key alone.
"""

from typing import TYPE_CHECKING, NamedTuple

from siding.decisions.record import Origin
from siding.errors import SidingError, UsageError

if TYPE_CHECKING:  # every command about decisions pays for what is loaded here
    import re

    from siding.app.place.project import Project
    from siding.phases.status import FlowStatus

_PREFIX = "gate:"
_UNKNOWN = "of a plan that cannot be read"


class GateKeys:
    """The keys of decisions that gates wait for. The plan is read when a key needs it, and once."""

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
    """A decision that a gate wants: its key, for any task and any pass, and the gate's phase."""

    key: "re.Pattern[str]"
    phase: str


def key_of_gate(task_id: str, status: "FlowStatus", number: int) -> str:
    """Return the key of a gate's own question. A step on it is another: a no is not for ever."""
    at = f"{status.current_phase}:{status.current_step}"
    return f"{_PREFIX}{task_id}:{status.task_id}:{at}:{number}"


def refuse_key_of_gates(key: str | None) -> None:
    """Raise UsageError for a key that only gates may ask under."""
    if key is not None and key.startswith(_PREFIX):
        raise UsageError(
            f"--key {key!r}: keys that begin with {_PREFIX!r} are for gates of the phases",
            hint="take another --key",
        )


def _wanted(project: "Project") -> tuple[_Wanted, ...]:
    from siding.app.place.phase_plan import configured
    from siding.phases.plan import GateKind

    try:
        plan = configured(project).plan
    except SidingError:  # then any name may be a gate's, and each is treated as one
        return (_Wanted(key=_pattern("{task}"), phase=_UNKNOWN),)
    return tuple(
        _Wanted(key=_pattern(gate.text), phase=phase)
        for phase, gates in plan.gates.items()
        for gate in gates
        if gate.kind is GateKind.DECISION
    )


def _pattern(key: str) -> "re.Pattern[str]":
    import re

    text = re.escape(key)
    for name in ("task", "pass"):
        text = text.replace(re.escape(f"{{{name}}}"), ".+")
    return re.compile(text, re.DOTALL)


def _phase_in(key: str) -> str:
    """Return the phase in ``gate:<task>:<pass>:<phase>:<step>:<number>``."""
    rest = key.split(":", 3)[3] if key.count(":") >= 5 else ""
    return rest.rsplit(":", 2)[0] or _UNKNOWN
