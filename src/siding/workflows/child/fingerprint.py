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
    same = {name: value for name, value in asked.items() if name not in SHOWN_ONLY}
    return hashlib.sha256(f"{kind}\n{_encode(same)}".encode()).hexdigest()[:32]
