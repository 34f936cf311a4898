"""What a call asks for, as one hash: equal if and only if the call would do the same."""

import hashlib
import json
from typing import Any

# How a call is shown. It changes nothing about what the call does.
SHOWN_ONLY = frozenset({"label", "phase"})
_encode = json.JSONEncoder(
    ensure_ascii=True, separators=(",", ":"), sort_keys=True, allow_nan=False
).encode


def fingerprint(kind: str, asked: dict[str, Any]) -> str:
    """Return the hash of a call. Raises TypeError and ValueError for what JSON cannot hold."""
    # As JSON has the object; of a text alone that is much faster to come by.
    same = ",".join(
        f"{_encode(name)}:{_encode(asked[name])}" for name in sorted(asked.keys() - SHOWN_ONLY)
    )
    return hashlib.sha256(f"{kind}\n{{{same}}}".encode()).hexdigest()[:32]


def is_same(one: Any, other: Any) -> bool:
    """Tell whether two results are the same to a script: 1, 1.0 and True are not."""
    return bool(one == other) and _encode({"": one}) == _encode({"": other})
