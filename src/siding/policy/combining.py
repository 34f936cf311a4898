"""Several policies as one: the built-in rules, a person's own, and the one a project brings.

A project's policy comes with a repository, which may be somebody else's. What it forbids counts at
once; what it allows counts when a person trusts exactly this file. Where a person and a project
both name a rule, the stricter of the two holds.
"""

from siding.policy.policy import Policy
from siding.policy.rules import BUILT_IN, GROUPS
from siding.policy.verdict import SEVERITY, Action


def combined(own: Policy, project: Policy, *, trusted: bool) -> Policy:
    """Return what is in force under a person's own policy and a project's."""
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
        programs=own.programs | brought.programs,
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
    """Return `action`, or what the person's own policy makes of the rule if that is stricter."""
    rule = own.rule(name)
    if rule is None:
        return action  # switched off by the person; a project may want it all the same
    return max(action, rule.action, key=SEVERITY.__getitem__)


def _names(off: frozenset[str]) -> frozenset[str]:
    """Return the single rules that names of rules and of sets stand for."""
    sets = {name for name in off if name in GROUPS}
    return (off - sets) | {name for name, rule in BUILT_IN.items() if rule.group in sets}
