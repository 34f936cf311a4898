"""Acts that a second press of the same key does: on the same rows, with what was shown. Pure."""

from collections.abc import Sequence

from siding.feed.model import Row
from siding.ground.errors import counted
from siding.ground.namedtuples import NamedTuple

_NAMED = 6  # rows that are named


class Pending(NamedTuple):
    """What a second press would do. `digest` is of the plan that was shown, "" for none yet."""

    act: str
    keys: tuple[str, ...]
    digest: str = ""
    is_ready: bool = False  # the person could read what it would do


class Doing:
    """The act that waits for its second press."""

    def __init__(self) -> None:
        self._pending: Pending | None = None

    @property
    def pending(self) -> Pending | None:
        return self._pending

    def press(self, act: str, rows: Sequence[Row]) -> Pending | None:
        """Take a press. Return what it does if it is the second one; else it is the first."""
        keys = tuple(row.key for row in rows)
        found = self._pending
        if found is not None and found.act == act and found.keys == keys:
            if not found.is_ready:
                return None
            self._pending = None
            return found
        self._pending = Pending(act, keys)
        return None

    def shown(self, act: str, rows: Sequence[Row], digest: str = "") -> bool:
        """Note that a person sees what the act would do; return whether it still is the one."""
        found = self._pending
        if found is None or found.act != act or found.keys != tuple(row.key for row in rows):
            return False
        self._pending = found._replace(digest=digest, is_ready=True)
        return True

    def not_shown(self, act: str, rows: Sequence[Row]) -> None:
        """Note that what the act would do could not be said: its next press is the first one."""
        if self._pending == Pending(act, tuple(row.key for row in rows)):
            self._pending = None

    def forget(self) -> None:
        """Let nothing wait: another key was pressed."""
        self._pending = None


def named(rows: Sequence[Row]) -> str:
    """Return the rows of an act, by name, and how many there are of many."""
    names = ", ".join(row.name for row in rows[:_NAMED])
    more = f" and {len(rows) - _NAMED} more" if len(rows) > _NAMED else ""
    return names + more if len(rows) == 1 else f"{counted(len(rows), 'row')}: {names}{more}"
