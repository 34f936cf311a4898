"""The decision on a call. Pure but for the paths that are resolved.

In this order: a rule that denies; the mode `plan`; a rule that asks, or that may deny what is known
only when it runs; the mode `bypassPermissions`; what is allowed by a rule, by what it is or by the
mode `acceptEdits`; else a question, which the mode `dontAsk` turns into a no.
"""

from collections.abc import Iterable

from siding.assistant.loop.permissions.allowing import Allowing
from siding.assistant.loop.permissions.commands import Fit
from siding.assistant.loop.permissions.facts import CallFacts, PermissionGround, facts_of
from siding.assistant.loop.permissions.matching import means
from siding.assistant.loop.permissions.modes import PermissionMode
from siding.assistant.loop.permissions.rules import Behaviour, PermissionRule, PermissionRules
from siding.assistant.tools.port import Use
from siding.ground.namedtuples import NamedTuple
from siding.shellguard.face import Effect, ToolUse

_SHOWN = 300  # characters of a rule in a reason


class PermissionDecision(NamedTuple):
    """What happens to a call, and why: a sentence for the model, or for the person who is asked."""

    behaviour: Behaviour
    reason: str = ""


def decide(
    tool: str,
    use: Use,
    mode: PermissionMode,
    rules: PermissionRules,
    ground: PermissionGround,
    *,
    is_safe: bool,
) -> PermissionDecision:
    """Decide on a call of a tool; `is_safe`: it changes nothing."""
    return decide_on(facts_of(tool, use, ground, is_safe=is_safe), mode, rules, ground)


def decide_on(
    facts: CallFacts, mode: PermissionMode, rules: PermissionRules, ground: PermissionGround
) -> PermissionDecision:
    """Decide on a call of which everything is known that can be."""
    denying, by = _strongest(rules.deny, facts, ground)
    if denying is Fit.YES:
        return PermissionDecision(Behaviour.DENY, f"The permissions deny this: {by}.")
    if mode is PermissionMode.PLAN and not facts.is_safe:
        return PermissionDecision(
            Behaviour.DENY,
            f"The mode is plan: nothing is changed, so {facts.tool} was not used. Read and search "
            "as much as you need, then say what you would do and let the person decide.",
        )
    asking, by_ask = _strongest(rules.ask, facts, ground)
    if denying is Fit.MAYBE:
        return _ask(mode, f"what it does is known only when it runs, and {by} may deny it")
    if asking is not Fit.NO:
        return _ask(mode, f"the permissions ask: {by_ask}")
    if mode is PermissionMode.BYPASS:
        return PermissionDecision(Behaviour.ALLOW)
    edits = mode is PermissionMode.ACCEPT_EDITS
    if Allowing(rules.allow, ground, edits=edits).allows(facts):
        return PermissionDecision(Behaviour.ALLOW)
    return _ask(mode, _why_not_allowed(facts))


def is_read_denied(path: str, rules: PermissionRules, ground: PermissionGround) -> bool:
    """Tell whether a rule denies that a file is read: a search has to leave it out."""
    from_rules = [rule for rule in rules.deny if rule.pattern]
    if not from_rules:
        return False
    use = Use(touches=ToolUse("Read", ((Effect.READS, path),)))
    facts = facts_of("Read", use, ground, is_safe=True)
    return any(means(rule, facts, ground) is Fit.YES for rule in from_rules)


def _strongest(
    rules: Iterable[PermissionRule], facts: CallFacts, ground: PermissionGround
) -> tuple[Fit, str]:
    """Return how well the best of the rules fits, and that rule for a message."""
    found, shown = Fit.NO, ""
    for rule in rules:
        fit = means(rule, facts, ground)
        if fit > found:
            found, shown = fit, rule.shown
        if found is Fit.YES:
            break
    return found, shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"


def _ask(mode: PermissionMode, why: str) -> PermissionDecision:
    if mode is PermissionMode.DONT_ASK:
        reason = f"Nobody is asked in the mode dontAsk, and this is not allowed: {why}."
        return PermissionDecision(Behaviour.DENY, reason)
    return PermissionDecision(Behaviour.ASK, why)


def _why_not_allowed(facts: CallFacts) -> str:
    if facts.line is not None and facts.line.unclear:
        return f"what it does is known only when it runs: {facts.line.unclear}"
    return "no rule of the permissions allows it"
