"""A program that is talked with through two pipes for as long as its owner likes."""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from siding.process.errors import CannotStart

_GRACE_S = 5.0


class LinkedProgram:
    """A program whose standard input and output are ours. It is ended with `end`.

    When this process dies, the program reads the end of its input, and is expected to end.
    """

    def __init__(self, program: "subprocess.Popen[bytes]") -> None:
        assert program.stdin is not None
        assert program.stdout is not None
        self._program = program
        self.to_program = os.dup(program.stdin.fileno())
        self.from_program = os.dup(program.stdout.fileno())
        program.stdin.close()
        program.stdout.close()

    def end(self) -> int:
        """Kill the program and all of its process group; return its status (-N: signal N).

        The two descriptors are the caller's to close.
        """
        with suppress(ProcessLookupError):
            os.killpg(self._program.pid, signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):
            return self._program.wait(_GRACE_S)
        return -signal.SIGKILL

    def status(self) -> int | None:
        """Return how the program ended; None while it lives."""
        return self._program.poll()


def start_linked(
    argv: Sequence[str], *, env: Mapping[str, str], cwd: Path, keep: Sequence[int] = ()
) -> LinkedProgram:
    """Start a program that has the descriptors in `keep`, too. Raises CannotStart.

    What it says on standard error goes nowhere.
    """
    try:
        program = subprocess.Popen(
            argv,
            env=dict(env),
            cwd=cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            pass_fds=keep,
        )
    except OSError as error:
        raise CannotStart(f"{argv[0]!r} cannot be started: {error.strerror}") from error
    return LinkedProgram(program)
