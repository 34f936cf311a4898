"""How fast a turn is: when its first word came, how long it took, tokens a second. Pure."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import text, whole

_WORDS = frozenset({"text", "thought", "tool-started"})


class Pace(NamedTuple):
    """The pace of the turn that runs, or of the last one. Moments are seconds since 1970; 0: none.

    A story has the moments at which the host wrote its lines, to a millisecond.
    """

    sent_at: float = 0.0
    first_at: float = 0.0
    last_at: float = 0.0
    output: int = 0  # tokens, as the agent counts them
    is_over: bool = False

    def after(self, line: Mapping[str, Any]) -> "Pace":
        """Return the pace after one more line of the story."""
        event = line.get("event")
        if event == "sending" and line.get("steers") is not True:
            return Pace(sent_at=_moment(line))
        if event == "turn-started" and (self.is_over or not self.sent_at):
            return Pace(sent_at=_moment(line))
        if event in _WORDS:
            if self.first_at or not self.sent_at:
                return self
            return self._replace(first_at=_moment(line))
        if event == "used":
            return self._replace(output=whole(line.get("output")), last_at=_moment(line))
        if event == "turn-ended":
            return self._replace(last_at=_moment(line), is_over=True)
        return self

    @property
    def first_s(self) -> float:
        """How long the first word took; 0 if there is none yet."""
        return max(0.0, self.first_at - self.sent_at) if self.first_at else 0.0

    @property
    def took_s(self) -> float:
        """How long the turn took; 0 while it runs."""
        return max(0.0, self.last_at - self.sent_at) if self.is_over and self.sent_at else 0.0

    @property
    def per_second(self) -> float:
        """Tokens a second since the first word, tools included; 0 if nobody counts them."""
        since = self.last_at - self.first_at
        return self.output / since if self.first_at and since > 0 and self.output else 0.0

    def said(self) -> str:
        """Return it as a phrase; "" if nothing is known."""
        found = []
        if self.took_s:
            found.append(_seconds(self.took_s))
        if self.first_at:
            found.append(f"first word after {_seconds(self.first_s)}")
        if self.per_second:
            found.append(f"{self.per_second:.0f} tokens/s")
        return " · ".join(found)


def _seconds(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes = int(seconds) // 60
    return f"{minutes} min {int(seconds) % 60} s"


def _moment(line: Mapping[str, Any]) -> float:
    try:
        return datetime.fromisoformat(text(line.get("at"))).timestamp()
    except ValueError:
        return 0.0
