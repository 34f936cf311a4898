"""A program that is talked with through two pipes for as long as its owner likes."""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from siding.ground.process.errors import CannotStart

_GRACE_S = 5.0
_MOST_SAID = 500  # letters of the line that is kept of what a program complains about


class LinkedProgram:
    """A program whose standard input and output are ours. It is ended with `end`.

    When this process dies, the program reads the end of its input, and is expected to end.
    """

    def __init__(self, program: "subprocess.Popen[bytes]", errors: int) -> None:
        assert program.stdin is not None
        assert program.stdout is not None
        self._program = program
        self._errors = errors
        self.complaint = ""  # the last line on standard error, once it was ended
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
        status = -signal.SIGKILL
        with suppress(subprocess.TimeoutExpired):
            status = self._program.wait(_GRACE_S)
        self.complaint = _last_line(_drained(self._errors))
        os.close(self._errors)
        return status

    def status(self) -> int | None:
        """Return how the program ended; None while it lives."""
        return self._program.poll()


def start_linked(
    argv: Sequence[str], *, env: Mapping[str, str], cwd: Path, keep: Sequence[int] = ()
) -> LinkedProgram:
    """Start a program that has the descriptors in `keep`, too. Raises CannotStart.

    Nobody reads its standard error while it lives: what does not fit into a pipe is lost.
    """
    errors, to_errors = os.pipe()
    for end in (errors, to_errors):
        os.set_blocking(end, False)
    try:
        program = subprocess.Popen(
            argv,
            env=dict(env),
            cwd=cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=to_errors,
            start_new_session=True,
            pass_fds=keep,
        )
    except OSError as error:
        os.close(errors)
        raise CannotStart(f"{argv[0]!r} cannot be started: {error.strerror}") from error
    finally:
        os.close(to_errors)
    return LinkedProgram(program, errors)


def _drained(fd: int) -> bytes:
    """Return what is in a pipe now, without waiting for more."""
    found = b""
    with suppress(BlockingIOError):
        while data := os.read(fd, 1 << 16):
            found += data
    return found


def _last_line(said: bytes) -> str:
    lines = said.decode("utf-8", "replace").split("\n")
    told = [line.strip() for line in lines if line.strip()]
    return told[-1][:_MOST_SAID] if told else ""
