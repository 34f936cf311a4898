"""Collect garbage between frames, never within one.

Each frame of Textual leaves some hundred objects that only the collector frees. With Python's own
thresholds a full collection stops the screen for 100 ms every few seconds, and larger thresholds
only make the young generation slow. So the collector is off, what is loaded is frozen, and small
collections run in the pauses. A full one waits until nobody types; where somebody always does, it
waits no longer than a minute.
"""

import gc
import time

_YOUNG = 4_000  # objects made since the last collection
_OLDER_EVERY = 8  # young collections
_REST_S = 2.0  # without a key: time for a full collection
_LONGEST_S = 60.0  # without a full one


class Collector:
    """Collects when it is told that there is a pause."""

    def __init__(self) -> None:
        self._young = 0
        self._is_full_due = False
        self._full_at = time.monotonic()
        self._was_on = gc.isenabled()

    def start(self) -> None:
        """Take over from Python's own rule; what is there by now is never looked at again."""
        gc.collect()
        gc.freeze()
        gc.disable()

    def freeze(self) -> None:
        """Leave out what is there by now: call it after much was loaded."""
        gc.collect()
        gc.freeze()

    def stop(self) -> None:
        """Give collection back to Python."""
        gc.unfreeze()
        if self._was_on:
            gc.enable()

    def pause(self, quiet_s: float) -> None:
        """Collect what is due; the last key came so many seconds ago."""
        is_young_due = gc.get_count()[0] >= _YOUNG
        self._is_full_due |= is_young_due
        is_late = time.monotonic() >= self._full_at + _LONGEST_S
        if self._is_full_due and (is_late or quiet_s >= _REST_S):
            self._is_full_due, self._full_at = False, time.monotonic()
            gc.collect()
        elif is_young_due:
            self._young += 1
            gc.collect(1 if self._young % _OLDER_EVERY == 0 else 0)
