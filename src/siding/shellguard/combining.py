"""Combine the built-in rules, a person's own policy and the policy in a repository into one.

A repository may be somebody else's. So its policy may forbid more at once, but it may allow more
only after a person has trusted exactly this file. When a person and a repository both set a rule's
action, the stricter action holds.
"""

from siding.shellguard.policy import Policy
from siding.shellguard.rules import BUILT_IN, GROUPS
from siding.shellguard.verdict import SEVERITY, Action


def combined(own: Policy, project: Policy, *, trusted: bool) -> Policy:
    """Return the policy in force: `own` is the person's, `project` the repository's.

    If one of them does not parse, the result is broken too and blocks every command.
    """
    if own.broken or project.broken:
        return Policy(broken=own.broken or project.broken)
    brought = project if trusted else tightening(project)
    actions = {**brought.actions, **own.actions}
    for name in brought.actions.keys() & own.actions.keys():
        actions[name] = max(brought.actions[name], own.actions[name], key=SEVERITY.__getitem__)
    if not trusted:
        actions = {name: _stricter(own, name, action) for name, action in actions.items()}
    return Policy(
        rules=(*own.rules, *brought.rules),
        actions=actions,
        off=(_names(own.off) - brought.actions.keys()) | (_names(brought.off) - own.actions.keys()),
        programs={**brought.programs, **own.programs},
        writable=(*own.writable, *brought.writable),
        examples=project.examples,
        loosens=(*own.loosens, *brought.loosens),
    )


def tightening(policy: Policy) -> Policy:
    """Return the part of a policy that forbids more than the built-in rules do."""
    return Policy(
        rules=tuple(rule for rule in policy.rules if rule.action is not Action.ALLOW),
        actions={
            name: action
            for name, action in policy.actions.items()
            if SEVERITY[action] >= SEVERITY[BUILT_IN[name].action]
        },
        examples=policy.examples,
    )


def _stricter(own: Policy, name: str, action: Action) -> Action:
    """Return the stricter of `action` and the action of rule `name` in the person's policy."""
    rule = own.rule(name)
    if rule is None:
        return action  # the person switched the rule off; a repository may still switch it on
    return max(action, rule.action, key=SEVERITY.__getitem__)


def _names(off: frozenset[str]) -> frozenset[str]:
    """Return the names of rules in `off`, with each name of a set replaced by its rules."""
    sets = {name for name in off if name in GROUPS}
    return (off - sets) | {name for name, rule in BUILT_IN.items() if rule.group in sets}
