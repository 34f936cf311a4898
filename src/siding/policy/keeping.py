"""A policy as plain values and back: parsing YAML takes longer than everything else a run does with
one, so the result may be kept beside the digest of the bytes it came from.
"""

import re
from collections.abc import Mapping
from typing import Any

from siding.policy.policy import Policy
from siding.policy.rules import BUILT_IN, Rule
from siding.policy.verdict import Action


def as_record(policy: Policy) -> dict[str, Any]:
    """Return values that JSON can hold, from which `policy_from` makes the same policy."""
    return {
        "rules": [
            [rule.name, rule.group, rule.action.value, rule.reason, rule.pattern.pattern]
            for rule in policy.rules
            if rule.pattern is not None
        ],
        "actions": {name: action.value for name, action in policy.actions.items()},
        "off": sorted(policy.off),
        "programs": sorted(policy.programs),
        "writable": list(policy.writable),
        "examples": [[line, action.value] for line, action in policy.examples],
        "loosens": list(policy.loosens),
    }


def policy_from(record: Mapping[str, Any]) -> Policy:
    """Return the policy in a record; raises KeyError, TypeError, ValueError or re.error when it
    is none."""
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
        programs=frozenset(record["programs"]),
        writable=tuple(record["writable"]),
        examples=tuple((line, Action(action)) for line, action in record["examples"]),
        loosens=tuple(record["loosens"]),
    )
