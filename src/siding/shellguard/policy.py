"""A policy: the rules in force and what a project adds to them."""

from collections.abc import Mapping
from typing import Any

from siding.ground.namedtuples import NamedTuple
from siding.shellguard.rules import BUILT_IN, Rule
from siding.shellguard.verdict import Action


class Policy(NamedTuple):
    """The rules in force. The default value is the built-in rules alone."""

    rules: tuple[Rule, ...] = ()  # the project's own
    actions: Mapping[str, Action] = {}  # built-in rules with another action
    off: frozenset[str] = frozenset()  # names of rules, or of whole sets
    # Programs that are known as well: their rows, as they are written (see `row`).
    programs: Mapping[str, Any] = {}
    writable: tuple[str, ...] = ()  # directories outside the workspace that may be changed
    examples: tuple[tuple[str, Action], ...] = ()
    broken: str = ""  # why the file does not parse; every command is blocked then
    loosens: tuple[str, ...] = ()  # its settings that allow more than the built-in rules do

    def rule(self, name: str) -> Rule | None:
        """Return a built-in rule with the action in force; None when it is switched off."""
        rule = BUILT_IN[name]
        if name in self.off or rule.group in self.off:
            return None
        action = self.actions.get(name)
        return rule if action is None else rule._replace(action=action)

    def in_force(self) -> tuple[Rule, ...]:
        """Return every rule in force, the project's own first."""
        built_in = (self.rule(name) for name in BUILT_IN)
        return (*self.rules, *(rule for rule in built_in if rule is not None))
