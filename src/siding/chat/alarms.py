"""What a host does though nothing happens: named moments, each at most once."""

import time
from collections.abc import Callable


class Alarms:
    """Calls what is due. Setting one of the same name again moves it."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._at: dict[str, tuple[float, Callable[[], None]]] = {}

    def set(self, name: str, after_s: float, act: Callable[[], None]) -> None:
        self._at[name] = (self._now() + after_s, act)

    def clear(self, name: str) -> None:
        self._at.pop(name, None)

    @property
    def next_ms(self) -> float | None:
        """For how long nothing is due; None for ever."""
        if not self._at:
            return None
        return max(0.0, min(at for at, _ in self._at.values()) - self._now()) * 1000 + 1

    def ring(self) -> None:
        """Do what is due, and forget it."""
        now = self._now()
        for name in [name for name, (at, _) in self._at.items() if at <= now]:
            _at, act = self._at.pop(name)
            act()
