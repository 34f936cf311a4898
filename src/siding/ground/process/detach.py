"""Go on in the background: a process that outlives the command line and the terminal."""

import os
import sys
from collections.abc import Callable

from siding.ground.namedtuples import NamedTuple


class Begun(NamedTuple):
    """The answer of a process in the background: what it said."""

    said: str


class Background:
    """The side of the process in the background."""

    def __init__(self, answer: int) -> None:
        self.pid = os.getpid()
        self._answer = answer

    def begin(self, said: str) -> None:
        """Leave the terminal, and let the waiting process end with what is `said`.

        Until then the process has the terminal: it can ask questions, and Ctrl-C ends it.
        """
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDWR)
        sys.stdout.flush()
        sys.stderr.flush()
        for number in (0, 1, 2):
            os.dup2(nothing, number)
        os.close(nothing)
        os.write(self._answer, said.encode("utf-8", "surrogateescape"))
        os.close(self._answer)


def in_background(work: Callable[[Background], int], *, apart: bool = False) -> Begun | int:
    """Run `work` in a forked process and wait until it calls `begin`; return what it said.

    Returns its exit status if it ends without that. Call this while the process has one thread.

    With `apart` it is no child of this process, nor in its session, from its first moment on: some
    programs end all descendants of what they have started. Its exit status is 1 then.
    """
    reading, writing = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        if apart:
            os.setsid()
            if os.fork():
                os._exit(1)
        status = 1
        try:
            status = work(Background(writing))
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(status)
    os.close(writing)
    with open(reading, "rb") as answer:
        said = answer.read().decode("utf-8", "surrogateescape")
    if said and not apart:
        return Begun(said)
    _pid, status = os.waitpid(pid, 0)
    if said:
        return Begun(said)
    return max(os.waitstatus_to_exitcode(status), 1 if os.WIFSIGNALED(status) else 0)
