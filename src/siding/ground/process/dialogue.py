"""Talk with a program through two pipes: in one short dialogue, or for as long as one likes."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector

from siding.ground.process.capture import CannotStart, OutputTooLarge, TimedOut

_LONGEST = 64 << 20  # bytes of all that the program may say
_GRACE_S = 2.0
Reaction = Callable[[bytes], Sequence[bytes] | None]
_END_S = 5.0
_MOST_SAID = 500  # letters of the line that is kept of what a program complains about


def converse(
    argv: Sequence[str],
    lines: Sequence[bytes],
    react: Reaction,
    *,
    env: Mapping[str, str],
    cwd: Path,
    timeout_s: float,
) -> None:
    """Send the lines, and what `react` returns for each line that the program writes.

    When that is None, or when the program has ended, the dialogue is over; its input ends, and so
    does the program. What is sent at once has to fit into a pipe (64 KiB). Raises CannotStart,
    TimedOut, OutputTooLarge, and whatever `react` raises.
    """
    deadline = time.monotonic() + timeout_s
    try:
        program = subprocess.Popen(
            argv,
            env=dict(env),
            cwd=cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise CannotStart(f"{argv[0]!r} cannot be started: {error.strerror}") from error
    try:
        _send(program, lines)
        for line in _lines(program, argv[0], deadline):
            more = react(line)
            if more is None:
                return
            _send(program, more)
    finally:
        _end(program)


def _send(program: "subprocess.Popen[bytes]", lines: Sequence[bytes]) -> None:
    assert program.stdin is not None
    with suppress(BrokenPipeError):
        program.stdin.write(b"".join(line + b"\n" for line in lines))
        program.stdin.flush()


def _lines(program: "subprocess.Popen[bytes]", name: str, deadline: float) -> Iterator[bytes]:
    assert program.stdout is not None
    fd, rest, size = program.stdout.fileno(), b"", 0
    with DefaultSelector() as selector:
        selector.register(fd, EVENT_READ)
        while True:
            if not selector.select(max(0.0, deadline - time.monotonic())):
                raise TimedOut(f"{name!r} did not answer in time, and was ended")
            data = os.read(fd, 1 << 16)
            if not data:
                return
            size += len(data)
            if size > _LONGEST:
                raise OutputTooLarge(f"{name!r} said more than {_LONGEST} bytes")
            *whole, rest = (rest + data).split(b"\n")
            yield from whole


def _end(program: "subprocess.Popen[bytes]") -> None:
    """Wait a moment for the program to end by itself, and end it and its group if it does not."""
    for stream in (program.stdin, program.stdout):
        if stream is not None:
            with suppress(BrokenPipeError):
                stream.close()
    try:
        program.wait(_GRACE_S)
    except subprocess.TimeoutExpired:
        for number in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError):
                os.killpg(program.pid, number)
            with suppress(subprocess.TimeoutExpired):
                program.wait(_GRACE_S)
                return


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
            status = self._program.wait(_END_S)
        self.complaint = _last_line(_drained(self._errors))
        os.close(self._errors)
        return status

    def kill(self) -> None:
        """Kill the program and all of its process group, from any thread; `end` is still due."""
        if self._program.returncode is None:  # else its number may be another's by now
            with suppress(ProcessLookupError):
                os.killpg(self._program.pid, signal.SIGKILL)

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
