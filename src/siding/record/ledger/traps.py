"""The traps of a step: files that it left, which a program outside runs, or goes by, later."""

from collections.abc import Mapping, Sequence
from typing import Any

from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import text

LISTED = 100  # that a ledger line names


class Trap(NamedTuple):
    """One such file. `path` is quoted as git quotes it.

    `content` is a SHA-256 of the path and of what of its content counts: the same one is the same
    trap, in whichever step and task.
    """

    path: str
    by: str  # what runs it
    when: str
    how: str  # "made" or "changed"
    content: str

    @classmethod
    def from_record(cls, value: Mapping[str, Any]) -> "Trap":
        return cls(*(text(value.get(name)) for name in cls._fields))


def traps_record(traps: Sequence[Trap]) -> dict[str, Any]:
    """Return the fields of a ledger line; none without traps."""
    if not traps:
        return {}
    listed = [each._asdict() for each in traps[:LISTED]]
    return {"traps": listed, **({"trap_count": len(traps)} if len(traps) > LISTED else {})}
