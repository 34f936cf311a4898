"""The verdict of the policy about a command, and the parts it is made of."""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from siding.ground.namedtuples import NamedTuple


class Action(StrEnum):
    """What happens to a command that a rule matches."""

    ALLOW = "allow"
    LOG = "log"  # runs; the match is in the record
    WARN = "warn"  # runs; the match is shown as well
    ASK = "ask"  # runs only when a person says so
    BLOCK = "block"  # does not run

    @property
    def severity(self) -> int:
        """The place among the actions, from the mildest to the strictest."""
        return SEVERITY[self]

    @property
    def runs(self) -> bool:
        """Whether the command may run without asking anybody."""
        return self.severity < Action.ASK.severity


SEVERITY: dict[Action, int] = {action: number for number, action in enumerate(Action)}


class RuleFinding(NamedTuple):
    """One rule that matched one part of a command."""

    rule: str
    action: Action
    matched: str  # the text it matched
    reason: str


class CommandPart(NamedTuple):
    """One simple command of a line, as it would be run."""

    text: str
    via: tuple[str, ...]  # the commands around it, outermost first: ("sudo", "bash -c")
    findings: tuple[RuleFinding, ...]

    @property
    def action(self) -> Action:
        return worst(finding.action for finding in self.findings)


class Verdict(NamedTuple):
    """The answer for a whole command: the most severe of its parts."""

    action: Action
    parts: tuple[CommandPart, ...]

    @property
    def runs(self) -> bool:
        """Whether the command may run without asking anybody."""
        return self.action.runs

    @property
    def findings(self) -> tuple[RuleFinding, ...]:
        return tuple(finding for part in self.parts for finding in part.findings)

    def events(self) -> list[dict[str, Any]]:
        """Return the findings as the ``policy_events`` of a step, one dict for each finding."""
        return [
            {
                "rule": finding.rule,
                "action": finding.action.value,
                "matched": finding.matched,
                "reason": finding.reason,
                "command": part.text,
                "via": list(part.via),
            }
            for part in self.parts
            for finding in part.findings
        ]

    def as_record(self) -> dict[str, Any]:
        """Return the verdict as values that JSON can hold; `from_record` reverses this."""
        return {
            "action": self.action.value,
            "runs": self.runs,
            "parts": [
                {
                    "command": part.text,
                    "via": list(part.via),
                    "action": part.action.value,
                    "findings": [each._asdict() for each in part.findings],
                }
                for part in self.parts
            ],
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Verdict":
        """Return the verdict in a record, which another version may have made."""
        parts = tuple(
            CommandPart(
                text=_text(part.get("command")),
                via=tuple(map(str, _list(part.get("via")))),
                findings=tuple(
                    RuleFinding(
                        rule=_text(each.get("rule")),
                        action=_action(each.get("action")),
                        matched=_text(each.get("matched")),
                        reason=_text(each.get("reason")),
                    )
                    for each in _mappings(part.get("findings"))
                ),
            )
            for part in _mappings(record.get("parts"))
        )
        return cls(_action(record.get("action")), parts)


def _action(value: object) -> Action:
    """Return an action; one that this version does not know blocks."""
    known = [each for each in Action if each == value]
    return known[0] if known else Action.BLOCK


def _text(value: object) -> str:
    return "" if value is None else str(value)


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _mappings(value: object) -> list[Mapping[str, Any]]:
    return [each for each in _list(value) if isinstance(each, Mapping)]


def worst(actions: Iterable[Action]) -> Action:
    """Return the most severe of `actions`; allow when there is none."""
    return max(actions, key=SEVERITY.__getitem__, default=Action.ALLOW)


def verdict_of(parts: Iterable[CommandPart]) -> Verdict:
    """Return the verdict of these parts: its action is the most severe of theirs."""
    kept = tuple(parts)
    return Verdict(action=worst(part.action for part in kept), parts=kept)
