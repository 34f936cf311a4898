"""The `phases` section of the settings: the phases, and the gates that must hold to leave one.

phases:
  names: [design, build, verify, finish]
  gates:
    verify:
      - command: pytest -q          # must exit 0 in the workspace
      - ask: May this be released?  # a person must say yes
      - decision: release-{task}    # the decision with this key must be answered
        chosen: now                 # optional: with this value
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from siding.ground.namedtuples import NamedTuple

DEFAULT_PHASES = (
    "task-optimize",
    "flow-design",
    "impl",
    "verify",
    "docs",
    "confirm",
    "finish",
)
MAX_PHASES = 50
LONGEST_NAME = 60  # characters


class GateKind(StrEnum):
    """What a gate checks: a command's exit code, a decision's answer, or a person's yes."""

    COMMAND = "command"
    DECISION = "decision"
    ASK = "ask"


class PhaseGate(NamedTuple):
    """One condition for leaving a phase. `text` is the command, the decision's key or the question.

    `chosen` is the value that the decision must have, "" for any.
    """

    kind: GateKind
    text: str
    chosen: str = ""


class PhasePlan(NamedTuple):
    """The names of the phases in order, and the gates by phase. `says_names`: the settings name
    the phases; otherwise they are the usual ones."""

    names: tuple[str, ...] = DEFAULT_PHASES
    gates: Mapping[str, tuple[PhaseGate, ...]] = {}
    says_names: bool = False

    def names_from(self, phase: str, own: tuple[str, ...]) -> tuple[str, ...]:
        """Return the phases that a pass in `phase` goes through; `own` are those that it recorded.

        They are those of the settings, if these name the phase. Otherwise the pass goes on through
        its own: an imported one has other phases than the project, and settings may be taken out
        while a pass is under way.
        """
        if phase in own and not (self.says_names and phase in self.names):
            return own
        return self.names

    def commands(self) -> dict[str, tuple[str, ...]]:
        """Return the commands of the gates, by phase."""
        found = {
            phase: tuple(each.text for each in gates if each.kind is GateKind.COMMAND)
            for phase, gates in self.gates.items()
        }
        return {phase: commands for phase, commands in found.items() if commands}


class BadPlan(ValueError):
    """The section is wrong. `place` is the path of the wrong field inside ``phases``."""

    def __init__(self, place: str, problem: str) -> None:
        super().__init__(problem)
        self.place = place


def plan_from(section: object) -> PhasePlan:
    """Return the plan in the parsed section; raises BadPlan."""
    if not isinstance(section, dict):
        raise BadPlan("", "should be a section with `names`")
    names = _names(section.get("names"))
    gates = section.get("gates") or {}
    if not isinstance(gates, dict):
        raise BadPlan("gates", "should be a section with the names of phases")
    found = {}
    for phase, listed in gates.items():
        if phase not in names:
            raise BadPlan(f"gates.{phase}", f"is not a phase: the phases are {', '.join(names)}")
        found[str(phase)] = tuple(_gates(f"gates.{phase}", listed))
    return PhasePlan(names=names, gates=found, says_names=section.get("names") is not None)


def _names(value: object) -> tuple[str, ...]:
    if value is None:
        return DEFAULT_PHASES
    if not isinstance(value, list) or not value or len(value) > MAX_PHASES:
        raise BadPlan("names", f"should be a list of 1 to {MAX_PHASES} names")
    names = []
    for each in value:
        name = each.strip() if isinstance(each, str) else ""
        if not name or len(name) > LONGEST_NAME or not name.isprintable() or name[0] == "-":
            raise BadPlan("names", f"{each!r} cannot be the name of a phase")
        if name in names:
            raise BadPlan("names", f"{name!r} is named twice")
        names.append(name)
    return tuple(names)


def _gates(place: str, value: Any) -> list[PhaseGate]:
    listed = value if isinstance(value, list) else [value]
    found = []
    for number, each in enumerate(listed):
        if isinstance(each, str) and each.strip():
            found.append(PhaseGate(GateKind.COMMAND, each))
            continue
        kinds = [kind for kind in GateKind if isinstance(each, dict) and kind.value in each]
        if len(kinds) != 1:
            raise BadPlan(f"{place}[{number}]", "should have one of command, decision, ask")
        text, chosen = each[kinds[0].value], each.get("chosen", "")
        if not isinstance(text, str) or not text.strip() or not isinstance(chosen, str):
            raise BadPlan(f"{place}[{number}].{kinds[0].value}", "should be a text")
        if chosen and kinds[0] is GateKind.COMMAND:
            raise BadPlan(f"{place}[{number}].chosen", "is for a decision, not for a command")
        found.append(PhaseGate(kinds[0], text, chosen))
    return found
