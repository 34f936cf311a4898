"""Collect the signals sent to us while a command runs, so that a poll loop can wait for them."""

import os
import signal
from types import FrameType, TracebackType
from typing import Self

# SIGQUIT too: in piped mode Ctrl-\ reaches only us, and the command would go on after our death.
ENDING = frozenset({signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT})
STOP = 0  # in the place of a signal: the end of the run was asked for
INTERRUPT = 255  # in the place of a signal: the command is to get SIGINT, and the run goes on
_WATCHED = ENDING | {
    signal.SIGINT,
    signal.SIGCHLD,
    signal.SIGWINCH,
    signal.SIGTSTP,
    signal.SIGCONT,
}


class SignalInbox:
    """Collects the signals of `_WATCHED` inside its `with` block.

    A signal that was ignored before stays ignored (`nohup`, a script's background job). Python
    handles signals in the main thread only. In another thread nothing is collected, ``active`` is
    False, and the caller has to poll its child.
    """

    def __init__(self) -> None:
        self.active = False
        self._reading, self._writing = ends = os.pipe()  # macOS has no `pipe2`
        for fd in ends:
            os.set_blocking(fd, False)
        self._handlers: dict[int, object] = {}
        self._wakeup = -1

    def __enter__(self) -> Self:
        try:
            self._wakeup = signal.set_wakeup_fd(self._writing, warn_on_full_buffer=False)
        except ValueError:  # not the main thread
            pass
        else:
            self.active = True
            for number in _WATCHED:
                handler = signal.getsignal(number)
                if handler is not signal.SIG_IGN or number == signal.SIGCHLD:
                    self._handlers[number] = handler
                    signal.signal(number, _collected)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)  # type: ignore[arg-type]  # what getsignal returned
        if self.active:
            signal.set_wakeup_fd(self._wakeup)
        os.close(self._reading)
        os.close(self._writing)

    def fileno(self) -> int:
        return self._reading

    def post(self, number: int) -> None:
        """Put a signal into the inbox as if it had been sent to us."""
        os.write(self._writing, bytes([number]))

    def stop(self, now: bool) -> None:
        """Ask the loop to end everything; with `now` by force."""
        for _ in range(2 if now else 1):
            self.post(STOP)

    def take(self) -> list[int]:
        """Return the signals that came since the last call, in order."""
        try:
            return list(os.read(self._reading, 4096))
        except BlockingIOError:
            return []


def _collected(_number: int, _frame: FrameType | None) -> None:
    """Do nothing: Python has already written the signal's number to the wakeup descriptor."""
