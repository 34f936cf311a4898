"""Convert a policy to plain values and back, so that it can be cached.

Parsing its YAML takes longer than all other work a run does with a policy. The cache keeps these
values beside the digest of the bytes they came from.
"""

import re
from collections.abc import Mapping
from typing import Any

from siding.shellguard.policy import Policy
from siding.shellguard.rules import BUILT_IN, Rule
from siding.shellguard.verdict import Action


def as_record(policy: Policy) -> dict[str, Any]:
    """Return a policy as values that JSON can hold; `policy_from` reverses this."""
    return {
        "rules": [
            [rule.name, rule.group, rule.action.value, rule.reason, rule.pattern.pattern]
            for rule in policy.rules
            if rule.pattern is not None
        ],
        "actions": {name: action.value for name, action in policy.actions.items()},
        "off": sorted(policy.off),
        "programs": dict(policy.programs),
        "writable": list(policy.writable),
        "examples": [[line, action.value] for line, action in policy.examples],
        "loosens": list(policy.loosens),
    }


def policy_from(record: Mapping[str, Any]) -> Policy:
    """Return the policy in `record`.

    Raises KeyError, TypeError, ValueError or re.error when the record does not hold one.
    """
    return Policy(
        rules=tuple(
            Rule(
                name=name,
                group=group,
                action=Action(action),
                reason=reason,
                pattern=re.compile(pattern),
            )
            for name, group, action, reason, pattern in record["rules"]
        ),
        actions={BUILT_IN[name].name: Action(action) for name, action in record["actions"].items()},
        off=frozenset(record["off"]),
        programs=dict(record["programs"]),
        writable=tuple(record["writable"]),
        examples=tuple((line, Action(action)) for line, action in record["examples"]),
        loosens=tuple(record["loosens"]),
    )
