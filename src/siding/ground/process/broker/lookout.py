"""Notice the end of a helper that is to live as long as a run does."""

import os
import select
import time
from collections.abc import Callable
from contextlib import suppress

from siding.ground.process.capture import Running

_LOOK_S = 0.5  # between looks, where no pidfd tells of the end


class Lookout:
    """Watches a helper in the loop of a run (`drive.Beside`). `ended` is called when it has ended,
    once."""

    def __init__(self, helper: Running, ended: Callable[[], None]) -> None:
        self._helper = helper
        self._ended = ended
        self._is_over = False
        self._pidfd = -1
        with suppress(AttributeError, OSError):  # only Linux has it
            self._pidfd = os.pidfd_open(helper.pid)

    @property
    def due(self) -> float | None:
        """When `wanted` wants to be called, whatever happens; None: no need."""
        return None if self._is_over or self._pidfd >= 0 else time.monotonic() + _LOOK_S

    def wanted(self) -> list[tuple[int, int, Callable[[], object]]]:
        """Return the descriptors to wait for, for what, and what to call then."""
        self.look()
        if self._is_over or self._pidfd < 0:
            return []
        return [(self._pidfd, select.POLLIN, self.look)]

    def look(self) -> None:
        """Take note if the helper has ended."""
        if not self._is_over and self._helper.has_ended():
            self._is_over = True
            self._ended()

    def close(self) -> None:
        if self._pidfd >= 0:
            os.close(self._pidfd)
            self._pidfd = -1
