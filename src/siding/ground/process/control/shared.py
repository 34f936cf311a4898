"""The terminal of a run that several people may look at: what they type, and whose size it has."""

import os
import signal

from siding.ground.process.command import WindowSize
from siding.ground.process.streams import Channel, TerminalInput
from siding.ground.process.terminal import set_window_size

_MOST_PENDING = 16 << 10  # bytes that were typed and that the terminal has not taken


class SharedTerminal:
    """A run's terminal. It has the size of the window of whoever was the last one to act.

    A program has one size only: with another window it is drawn as if that window had it, too.
    """

    def __init__(self, channel: Channel, typed: TerminalInput, size: WindowSize) -> None:
        self.size = size
        self.typed = 0  # bytes that viewers typed, in all
        self.owner: object | None = None  # the terminal that the run was started in, if it has one
        self._channel = channel
        self._typed = typed
        self._windows: dict[object, WindowSize] = {}  # the one that acted last comes last

    @property
    def has_room(self) -> bool:
        """Whether more may be typed now."""
        return not self._channel.open or len(self._typed.pending) < _MOST_PENDING

    @property
    def taken(self) -> int:
        """How many of the bytes that viewers typed the terminal has taken, at least."""
        return max(0, self.typed - len(self._typed.pending))

    def type(self, data: bytes) -> None:
        """Type into the terminal, behind what waits to be typed."""
        if self._channel.open:
            self.typed += len(data)
            self._typed.pending += data

    def look(self, viewer: object, size: WindowSize) -> bool:
        """Take note that a viewer with a window of this size acts; tell if the size changed.

        If it did, the kernel has told the program, which draws its screen again.
        """
        self._windows.pop(viewer, None)
        self._windows[viewer] = size
        return self._fit()

    def act(self, viewer: object) -> None:
        """Take note that a viewer acts; one without a window changes nothing."""
        if viewer in self._windows:
            self.look(viewer, self._windows[viewer])

    def leave(self, viewer: object) -> None:
        """Forget a viewer; the terminal gets the size of whoever acted before."""
        if self._windows.pop(viewer, None) is not None:
            self._fit()

    def answers(self, viewer: object) -> bool:
        """Tell whether what the program asks its terminal is for this viewer's to answer.

        The terminal that the run was started in answers; without one, that of the last to act.
        """
        if self.owner is not None:
            return viewer is self.owner
        return bool(self._windows) and next(reversed(self._windows)) is viewer

    def redraw(self) -> None:
        """Have the program in the foreground draw its screen again."""
        if self._channel.open:
            try:
                group = os.tcgetpgrp(self._channel.fd)
                if group > 0:
                    os.killpg(group, signal.SIGWINCH)
            except OSError:
                pass  # it just ended, or is another user's

    def _fit(self) -> bool:
        size = next(reversed(self._windows.values()), self.size)
        if size == self.size or not self._channel.open:
            return False
        self.size = size
        set_window_size(self._channel.fd, size)
        return True
