"""A person at a terminal, for measuring: a program on a pseudo-terminal, watched with a clock."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter_ns
from typing import Self

ROWS, COLUMNS = 30, 100
_LONGEST_S = 60
_WHO = b"\x1b[c"  # primary device attributes, asked behind the background


class Sitting:
    """Runs a program with a terminal of its own. A context manager, which ends it."""

    def __init__(self, argv: Sequence[str], *, cwd: Path, env: Mapping[str, str]) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self.seen = b""
        self._has_answered = False
        self.begun = perf_counter_ns()
        self.process = subprocess.Popen(
            list(argv),
            cwd=cwd,
            env={**env, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"},
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
        )
        os.close(slave)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_failure: object) -> None:
        self.process.send_signal(signal.SIGTERM)
        try:
            while self._read():
                pass
            self.process.wait(timeout=_LONGEST_S)
        finally:
            os.close(self._master)

    def until(self, text: bytes | re.Pattern[bytes]) -> int:
        """Watch until `text` was shown; return the moment in nanoseconds."""
        while not _is_in(text, self.seen):
            if not self._read():
                raise RuntimeError(f"{text!r} was not shown: {self.seen[-2000:]!r}")
        return perf_counter_ns()

    def timed_key(self, key: bytes, shows: bytes | re.Pattern[bytes]) -> float:
        """Press a key; return how many milliseconds later the screen shows what comes of it."""
        self.seen = b""
        begun = perf_counter_ns()
        os.write(self._master, key)
        return (self.until(shows) - begun) / 1e6

    def press(self, key: bytes) -> None:
        """Press a key, or type a text."""
        os.write(self._master, key)

    def watch(self, seconds: float) -> None:
        """Take what is shown meanwhile."""
        end = perf_counter_ns() + int(seconds * 1e9)
        while (left := (end - perf_counter_ns()) / 1e9) > 0:
            if not select.select([self._master], [], [], left)[0]:
                continue
            before = self.seen
            try:
                self.seen = os.read(self._master, 1 << 16)
            except OSError:  # nobody has the terminal open any more
                status = self.process.wait(timeout=_LONGEST_S)
                raise RuntimeError(f"it ended with {status}: {before[-2000:]!r}") from None

    def _read(self) -> bool:
        if not select.select([self._master], [], [], _LONGEST_S)[0]:
            return False
        try:
            data = os.read(self._master, 1 << 16)
        except OSError:
            return False
        self.seen += data
        self._answer()
        return bool(data)

    def _answer(self) -> None:
        """Answer what a program asks at its start, as terminals do: who it is, its background."""
        if not self._has_answered and _WHO in self.seen:
            self._has_answered = True
            os.write(self._master, b"\x1b]11;rgb:1c1c/1c1c/1c1c\x1b\\\x1b[?62;22c")


def _is_in(text: bytes | re.Pattern[bytes], seen: bytes) -> bool:
    return text in seen if isinstance(text, bytes) else text.search(seen) is not None
