"""Do something in a forked child, which may be killed at a chosen call that changes files."""

import os
import signal
from collections.abc import Callable

CHANGING = (
    "link",
    "mkdir",
    "open",
    "rename",
    "replace",
    "rmdir",
    "symlink",
    "truncate",
    "unlink",
    "write",
    "fsync",
    "chmod",
)


def in_a_child(act: Callable[[], object]) -> int:
    """Fork, act there, and return the child's id. Its status is 1 after an exception."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        act()
        status = 0
    finally:
        os._exit(status)


def ended(child: int) -> int:
    """Wait for the child; return its exit status, or the negative number of a signal."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def killed_at(number: int, act: Callable[[], object]) -> bool:
    """Act in a child that kills itself before its `number`-th change; return whether it did.

    git processes that it started go on by themselves, and hold the task's lock meanwhile.
    """

    def doomed() -> None:
        left = [number]

        def counted(call: Callable[..., object]) -> Callable[..., object]:
            def made(*words: object, **more: object) -> object:
                left[0] -= 1
                if not left[0]:
                    os.kill(os.getpid(), signal.SIGKILL)
                return call(*words, **more)

            return made

        for name in CHANGING:
            setattr(os, name, counted(getattr(os, name)))
        act()

    return ended(in_a_child(doomed)) == -signal.SIGKILL
