"""Talk with a program by lines over its standard input and output.

Unlike a helper of `ground.process.capture` it keeps its input until all is said: some servers end
at once, without an answer, when nobody can ask them any more.
"""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector

from siding.ground.process.errors import CannotStart, OutputTooLarge, TimedOut

_LONGEST = 64 << 20  # bytes of all that the program may say
_GRACE_S = 2.0


Reaction = Callable[[bytes], Sequence[bytes] | None]


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
