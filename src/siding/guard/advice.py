"""Say what was probably meant: by a rule that only seems to lower a built-in one, or by a quote."""

from collections.abc import Sequence
from shlex import quote

from siding.shellguard.rules import BUILT_IN
from siding.shellguard.verdict import SEVERITY, Action, CommandPart, Verdict


def how_to_only_warn(verdict: Verdict) -> str:
    """Return a sentence if a rule of a policy file warns where a built-in rule stops the command.

    Such a rule adds a warning and lowers nothing: its author may have meant to, or may have meant
    to log every command. "" if there is no such rule.
    """
    for part in verdict.parts:
        strict = _strictest_built_in(part)
        mild = [each for each in part.findings if each.rule not in BUILT_IN and _runs(each.action)]
        if strict and mild:
            action = mild[0].action.value
            return (
                f"the rule {mild[0].rule} adds its {action!r} and lowers no built-in rule; "
                f"`actions: {{{strict}: {action}}}` in the policy file does"
            )
    return ""


def how_to_run_a_line(argv: Sequence[str]) -> str:
    """Return a sentence if a command looks like a line of shell in one word; else ""."""
    if len(argv) != 1 or " " not in argv[0].strip():
        return ""
    return f"it is one word, a program's name; a line of shell is run by sh -c {quote(argv[0])}"


def _strictest_built_in(part: CommandPart) -> str:
    stopping = [each for each in part.findings if each.rule in BUILT_IN and not _runs(each.action)]
    return max(stopping, key=lambda each: SEVERITY[each.action]).rule if stopping else ""


def _runs(action: Action) -> bool:
    return SEVERITY[action] < SEVERITY[Action.ASK]
