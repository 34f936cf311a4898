"""A person at a terminal: a program on a pseudo-terminal, driven and watched."""

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path


class Terminal:
    """Runs a program with a terminal of its own; `seen` is everything it has shown."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        rows: int = 30,
        columns: int = 100,
    ) -> None:
        self.seen = b""
        self._master, slave = pty.openpty()
        self.resize(rows, columns)
        self.process = subprocess.Popen(
            list(argv),
            cwd=cwd,
            env=dict(env),
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            preexec_fn=_take_terminal,  # noqa: PLW1509 - no threads here
        )
        os.close(slave)

    def resize(self, rows: int, columns: int) -> None:
        """Change the window's size, as dragging its corner does."""
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text: bytes) -> None:
        """Press keys."""
        os.write(self._master, text)

    def wait_for(self, text: bytes, *, seconds: float = 30, since: int = 0) -> bytes:
        """Watch until `text` is shown behind what was seen `since`; return all that was seen."""
        end = time.monotonic() + seconds
        while text not in self.seen[since:]:
            assert time.monotonic() < end, (text, self.seen)
            assert self._read(end) or text in self.seen[since:], (text, self.seen)
        return self.seen

    def until_quiet(self, *, seconds: float = 30) -> bytes:
        """Watch until something was shown, and nothing more for a while; return all of it."""
        end = time.monotonic() + seconds
        before = -1
        while before != len(self.seen) or not self.seen:
            assert time.monotonic() < end, self.seen
            before = len(self.seen)
            self._read(time.monotonic() + 0.3)
        return self.seen

    def finish(self, *, seconds: float = 30) -> int:
        """Watch until the program has ended; return its exit status."""
        end = time.monotonic() + seconds
        while self._read(end):
            assert time.monotonic() < end, self.seen
        try:
            return self.process.wait(timeout=max(1.0, end - time.monotonic()))
        finally:
            os.close(self._master)

    def close_window(self) -> None:
        """Take the terminal away, as closing its window does."""
        os.close(self._master)

    def kill(self) -> None:
        """End whatever is still there."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def _read(self, end: float) -> bool:
        ready, _, _ = select.select([self._master], [], [], max(0.0, end - time.monotonic()))
        if not ready:
            return False
        try:
            data = os.read(self._master, 1 << 16)
        except OSError:  # the last program has closed its side
            return False
        self.seen += data
        return bool(data)


def _take_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
