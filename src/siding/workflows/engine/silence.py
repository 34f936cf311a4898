"""Notice a script that computes and never waits: nothing else of its run goes on meanwhile."""

import asyncio
from collections.abc import Callable


class Silence:
    """Counts the time in which a script has something to take and does not come to wait for it."""

    def __init__(self, limit_s: float, on_silence: Callable[[], None]) -> None:
        self._limit_s = limit_s
        self._on_silence = on_silence
        self._unanswered = 0  # messages to the script after which it has not waited yet
        self._timer: asyncio.TimerHandle | None = None

    def sent(self) -> None:
        """Count a message to the script."""
        self._unanswered += 1
        self._begin()

    def waits(self) -> None:
        """Note that the script has taken a message and waits."""
        self._unanswered -= 1
        self._begin()

    def stop(self) -> None:
        """Count no longer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _begin(self) -> None:
        self.stop()
        if self._unanswered:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._limit_s, self._on_silence)
