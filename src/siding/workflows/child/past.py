"""What an earlier attempt of this run recorded, and which of it still counts.

A record is taken for a call if it has the call's path and fingerprint, nothing before it in its
lane came out differently, and the policy does not want the call made again. Everything else is made
now. The fingerprint of two calls is the same if and only if they would do the same.
"""

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from siding.workflows.child.errors import NotDeterministic

# How a call is shown. It changes nothing about what the call does.
SHOWN_ONLY = frozenset({"label", "phase"})
_encode = json.JSONEncoder(
    ensure_ascii=True, separators=(",", ":"), sort_keys=True, allow_nan=False
).encode
OK, SKIPPED, DEAD, REFUSED, EDITED = "ok", "skipped", "dead", "refused", "edited"


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


class Record:
    """A call that was answered, or (`kind` is "") one that was begun and has no answer.

    One that was answered and was being made again when the run was cut off `is_open`.
    """

    __slots__ = (
        "fingerprint",
        "is_of_this_script",
        "is_open",
        "kind",
        "number",
        "path",
        "seq",
        "value",
    )

    def __init__(self, line: Sequence[Any]) -> None:
        self.path: str
        self.number: int  # the agent's id; -1 for other calls
        self.fingerprint: str
        self.kind: str
        self.seq: int
        self.value: Any
        self.is_of_this_script: bool
        self.is_open: bool
        (
            self.path,
            self.number,
            self.fingerprint,
            self.kind,
            self.seq,
            self.value,
            self.is_of_this_script,
            self.is_open,
        ) = line


class Selection:
    """Which agents are to be run again, though their result is recorded (`resume.Policy`)."""

    def __init__(self, policy: dict[str, Any]) -> None:
        self._scope = policy.get("scope", "checkpoint")
        self._first = policy.get("from", 0)
        self._last = policy.get("to", -1)
        self._numbers = frozenset(policy.get("agents", ()))

    def has(self, number: int) -> bool:
        """Tell whether the agent with this id is to run again."""
        if self._scope == "all":
            return True
        if self._scope == "range":
            return bool(self._first <= number <= self._last)
        return number in self._numbers

    @property
    def takes_nothing(self) -> bool:
        """Whether nothing recorded counts."""
        return bool(self._scope == "all")


class Past:
    """The records of earlier attempts, by path."""

    def __init__(self, lines: Sequence[Sequence[Any]]) -> None:
        self._records = {record.path: record for record in map(Record, lines)}
        self._numbers = {record.number for record in self._records.values()} - {-1}
        self._next = 0

    def at(
        self, path: str, kind: str, fingerprint: str, asked: dict[str, Any], *, is_as_before: bool
    ) -> Record | None:
        """Return what is recorded of a call. `kind` and `asked` name the call to a person.

        `is_as_before` says that no call was made again so far whose result may be another one.
        Raises NotDeterministic if even so the same script made another call at this place.
        """
        record = self._records.get(path)
        if record is None or record.fingerprint == fingerprint:
            return record
        if not (is_as_before and record.is_of_this_script):
            return record
        raise NotDeterministic(
            f"the script is the same, but its {kind} call {path} is not: now it is {_shown(asked)}."
            " It depends on more than the script's arguments and the results of its calls."
        )

    def number_for(self, record: Record | None) -> int:
        """Return the id of an agent: the one it had, or the next that no record has."""
        if record is not None and record.number >= 0:
            return record.number
        while self._next in self._numbers:
            self._next += 1
        self._numbers.add(self._next)
        return self._next


def _shown(asked: dict[str, Any]) -> str:
    text = str(asked.get("prompt") or asked.get("question") or asked)
    return repr(text if len(text) <= 80 else text[:79] + "…")
