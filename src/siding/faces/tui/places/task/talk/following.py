"""The thread that reads a conversation as it goes on, and gives the screen a portion at a time.

Reading blocks, so it has a thread. The next portion is read when the last one is on the screen: a
slow screen costs itself alone, and what came meanwhile is one portion.
"""

import asyncio
import contextvars
import threading
import time
from collections.abc import Callable

from siding.chat.viewing import Portion, StoryView
from siding.ground.errors import SidingError

_EVERY_S = 0.05  # at most 20 times a second
_WAITS_S = 30.0
_AT_ONCE = 200  # parts that the screen takes without drawing in between


class Following:
    """Reads one conversation. `took` is called in the loop, with a portion."""

    def __init__(
        self, view: StoryView, took: Callable[[Portion], None], failed: Callable[[str], None]
    ) -> None:
        self._view, self._took, self._failed = view, took, failed
        self._loop = asyncio.get_running_loop()
        self._context = contextvars.copy_context()
        self._is_taken = threading.Event()
        self._is_closed = False
        self._thread = threading.Thread(target=self._run, name="siding-talk", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """Have it look now."""
        self._view.wake()

    def close(self) -> None:
        """End the thread, as soon as it looks."""
        self._is_closed = True
        self._is_taken.set()
        self._view.wake()

    def _run(self) -> None:
        last: Portion | None = None
        try:
            while not self._is_closed:
                portion = self._view.look()
                if portion.shifts or last is None or portion != last._replace(shifts=()):
                    self._give(portion)
                    last = portion._replace(shifts=())
                    time.sleep(_EVERY_S)
                self._view.wait(_WAITS_S)
        except (SidingError, OSError) as error:
            told = error.message if isinstance(error, SidingError) else str(error)
            self._call(self._failed, told)
        finally:
            self._view.close()

    def _give(self, portion: Portion) -> None:
        for at in range(0, max(1, len(portion.shifts)), _AT_ONCE):
            self._is_taken.clear()
            self._call(self._take, portion._replace(shifts=portion.shifts[at : at + _AT_ONCE]))
            self._is_taken.wait()
            if self._is_closed:
                return

    def _take(self, portion: Portion) -> None:
        try:
            if not self._is_closed:
                self._took(portion)
        finally:
            self._is_taken.set()

    def _call(self, function: Callable[..., object], *values: object) -> None:
        try:
            # Without the app's context, Textual finds no app where a timer is made.
            self._loop.call_soon_threadsafe(function, *values, context=self._context)
        except RuntimeError:  # the loop has ended
            self._is_closed = True
            self._is_taken.set()
