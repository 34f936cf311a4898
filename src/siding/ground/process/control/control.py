"""A run's control socket as part of the loop that drives the run.

The socket of a run in the foreground opens when the run has lived for a moment: most commands end
before that, and to load what serves viewers takes longer than they do.
"""

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from siding.ground.process.control.recent import Recent

if TYPE_CHECKING:
    from siding.ground.process.control.server import Server
    from siding.ground.process.control.shared import SharedTerminal

_MOMENT_S = 0.2


class Control:
    """The control socket at `path`, and what is kept of the output for those who come to it.

    With `at_once` it is there before the run counts as started.
    """

    def __init__(self, path: Path, *, at_once: bool) -> None:
        self._path = path
        self._recent = Recent()
        self._opens_at: float | None = None
        self._at_once = at_once
        self._terminal: SharedTerminal | None = None
        self._stop: Callable[[bool], None] = _cannot
        self._server: Server | None = None

    def begin(self, terminal: "SharedTerminal | None", stop: Callable[[bool], None]) -> None:
        """Take note that the command was started; `terminal` is None if it has pipes.

        `stop` ends everything that the run started, at once if its argument is True.
        """
        self._terminal, self._stop = terminal, stop
        self._recent.is_terminal = terminal is not None
        if self._at_once:
            self._open()
        else:
            self._opens_at = time.monotonic() + _MOMENT_S

    @property
    def due(self) -> float | None:
        """When `wanted` wants to be called, whatever happens; None: no need."""
        return self._opens_at if self._server is None else self._server.due

    def wanted(self) -> list[tuple[int, int, Callable[[], object]]]:
        """Return the descriptors to wait for, for what, and what to call then."""
        if self._opens_at is not None and time.monotonic() >= self._opens_at:
            self._open()
        return [] if self._server is None else self._server.wanted()

    def saw(self, data: memoryview) -> None:
        """Take what the command printed."""
        self._recent.add(data)
        if self._server is not None:
            self._server.saw(data)

    def ended(self, exit_code: int, ending: str) -> None:
        """Tell the viewers how the run ended."""
        if self._server is not None:
            self._server.ended(exit_code, ending)
        self._server = None

    def close(self) -> None:
        """Close the socket, if it is open; viewers are told nothing."""
        if self._server is not None:
            self._server.close()
        self._server = self._opens_at = None

    def _open(self) -> None:
        """Open the socket. A run that cannot be watched, for a full disk say, goes on as well."""
        from siding.ground.process.control.server import Server

        self._opens_at = None
        with suppress(OSError):
            self._server = Server(self._path, self._recent, self._terminal, self._stop)


def _cannot(_now: bool) -> None:
    """Do nothing: the command was not started yet."""
