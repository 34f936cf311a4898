"""Showing output without ever standing still on the screen.

A terminal halted by Ctrl-S or a pager that is not read would block a plain write, and with it
timeouts and signals. Pipes and terminals are therefore opened a second time for ourselves, as
non-blocking; setting O_NONBLOCK on the caller's own descriptor would change it for everybody who
shares it. Where that is not possible (sockets, macOS) writes may block.
"""

import os
import stat
import sys


class ScreenWriter:
    """One descriptor of the caller's to show output on; None shows nothing.

    While `pending` is set the screen is slow: the caller should read no further until `flush`
    has sent it. When the screen is gone (its reader ended, the terminal was closed) `gone` says
    so and everything is dropped from then on; that is no error of the command's.
    """

    def __init__(self, fd: int | None) -> None:
        self.gone: str | None = None
        self.pending = b""
        self.dropped = False
        self._hurry = False
        self._own = -1
        self._fd = -1
        if fd is not None:
            self._own = _reopened(fd)
            self._fd = self._own if self._own >= 0 else fd

    @property
    def shows(self) -> bool:
        return self._fd >= 0 and self.gone is None

    def fileno(self) -> int:
        return self._fd

    def show(self, data: memoryview) -> None:
        """Send what the screen takes; keep a copy of the rest in `pending`."""
        if not self.shows:
            return
        assert not self.pending
        sent = self._send(data)
        if sent < len(data) and self.shows:
            if self._hurry:
                self.dropped = True
            else:
                self.pending = bytes(data[sent:])

    def flush(self) -> None:
        """Send more of what is pending."""
        pending = memoryview(self.pending)
        sent = self._send(pending)
        self.pending = bytes(pending[sent:]) if self.shows else b""

    def hurry(self) -> None:
        """From now on drop what the screen does not take at once."""
        self._hurry = True
        if self.pending:
            self.flush()
            self.dropped = self.dropped or bool(self.pending)
            self.pending = b""

    def close(self) -> None:
        if self._own >= 0:
            os.close(self._own)
            self._own = self._fd = -1

    def _send(self, data: memoryview) -> int:
        done = 0
        try:
            while done < len(data):
                done += os.write(self._fd, data[done:])
        except BlockingIOError:
            pass
        except OSError as error:
            self.gone = error.strerror
        return done


def _reopened(fd: int) -> int:
    """Open what ``fd`` is once more, non-blocking; -1 when there is no need or no way."""
    try:
        mode = os.fstat(fd).st_mode
        if sys.platform != "linux" or not (stat.S_ISFIFO(mode) or os.isatty(fd)):
            return -1
        flags = os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        return os.open(f"/proc/self/fd/{fd}", flags)
    except OSError:
        return -1
