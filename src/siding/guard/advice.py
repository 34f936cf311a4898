"""Say what was probably meant: by a rule that only seems to lower a built-in one, or by a quote."""

from collections.abc import Sequence
from shlex import quote

from siding.shellguard.face import Policy, Verdict


def how_to_only_warn(verdict: Verdict) -> str:
    """Return a sentence if a rule of a policy file warns where a built-in rule stops the command.

    Such a rule adds a warning and lowers nothing: its author may have meant to, or may have meant
    to log every command. "" if there is no such rule.
    """
    for part in verdict.parts:
        strict = [
            each for each in part.findings if _is_built_in(each.rule) and not each.action.runs
        ]
        mild = [each for each in part.findings if not _is_built_in(each.rule) and each.action.runs]
        if strict and mild:
            rule = max(strict, key=lambda each: each.action.severity).rule
            action = mild[0].action.value
            return (
                f"the rule {mild[0].rule} adds its {action!r} and lowers no built-in rule; "
                f"`actions: {{{rule}: {action}}}` in the policy file does"
            )
    return ""


def how_to_run_a_line(argv: Sequence[str]) -> str:
    """Return a sentence if a command looks like a line of shell in one word; else ""."""
    if len(argv) != 1 or " " not in argv[0].strip():
        return ""
    return f"it is one word, a program's name; a line of shell is run by sh -c {quote(argv[0])}"


def _is_built_in(rule: str) -> bool:
    return Policy.built_in(rule) is not None
