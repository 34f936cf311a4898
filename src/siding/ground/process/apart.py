"""Start a program of ours that has nothing of this process: no terminal, session or descriptor."""

import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path


class Apart:
    """A program that was started apart. It is a child only as long as it does not leave us."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process

    def status(self) -> int | None:
        """Return its exit status; None while it lives."""
        return self._process.poll()

    def await_end(self, seconds: float) -> None:
        """Wait until it has ended, or for so long."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)


def start_apart(argv: Sequence[str], *, env: Mapping[str, str], cwd: Path) -> Apart:
    """Start a program in a session of its own, with nothing to read and nowhere to write.

    This can be called from any thread: what happens between fork and exec takes no lock. Raises
    OSError.
    """
    return Apart(
        subprocess.Popen(
            list(argv),
            env=dict(env),
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    )
