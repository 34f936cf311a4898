"""Show output without blocking on a slow screen.

A plain write blocks when the terminal is halted by Ctrl-S or a pager does not read; timeouts and
signals would then wait too. So pipes and terminals are opened a second time, as non-blocking.
Setting O_NONBLOCK on the caller's descriptor would set it for every process that shares it. Where
opening again is not possible (sockets, macOS) writes may block.
"""

import os
import stat
import sys


class ScreenWriter:
    """Shows output on one of the caller's descriptors; None shows nothing.

    While `pending` is not empty the screen is slow, and the caller should read no more output
    until `flush` has sent it. When the screen is gone (its reader ended, the terminal was closed)
    `gone` holds the reason and later output is dropped; the command goes on.
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
        """Write as much as the screen takes; keep a copy of the rest in `pending`."""
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
        """Write as much of `pending` as the screen takes."""
        pending = memoryview(self.pending)
        sent = self._send(pending)
        self.pending = bytes(pending[sent:]) if self.shows else b""

    def hurry(self) -> None:
        """From now on drop the bytes that the screen does not take at once."""
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
    """Open the pipe or terminal behind ``fd`` again, non-blocking; -1 for anything else."""
    try:
        mode = os.fstat(fd).st_mode
        if sys.platform != "linux" or not (stat.S_ISFIFO(mode) or os.isatty(fd)):
            return -1
        flags = os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        return os.open(f"/proc/self/fd/{fd}", flags)
    except OSError:
        return -1
