"""Keep a script within its process: limits of the kernel, and no way to files and programs.

The check refuses what would lead out of a script, and the script's modules do not have it. This is
for what gets past both: it is not needed by a script that means well.
"""

import os
import resource
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from siding.workflows.allowed import CPU_S, MEMORY_BYTES

_LIMITS = (
    (resource.RLIMIT_AS, MEMORY_BYTES),
    (resource.RLIMIT_CPU, CPU_S),
    (resource.RLIMIT_CORE, 0),
    (resource.RLIMIT_FSIZE, 0),  # no file can be written; pipes are none
    (resource.RLIMIT_NPROC, 0),  # no process can be started, but by root
)
_REFUSED = (
    *("os.", "subprocess.", "shutil.", "glob.", "tempfile.", "mmap.", "fcntl.", "pty."),
    *("socket.", "urllib.", "http.client.", "webbrowser.", "sqlite3.", "syslog."),
    *("ctypes.", "signal.", "resource.", "cpython.run_", "builtins.input", "builtins.breakpoint"),
)
_LIBRARY = os.path.dirname(os.__file__) + os.sep


class Forbidden(BaseException):
    """The script reached for what is outside of it. No `except Exception` hides it."""


def set_limits() -> None:
    """Let the kernel bound what this process can use."""
    for limit, value in _LIMITS:
        with suppress(OSError, ValueError):  # lower already, or unknown to this system
            resource.setrlimit(limit, (value, value))


def private_pipes(fd_in: int, fd_out: int) -> tuple[int, int]:
    """Move the two pipes away from the numbers that everybody knows; those lead nowhere then."""
    moved = os.dup(fd_in), os.dup(fd_out)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nowhere, fd)
    os.close(nowhere)
    return moved


def watch(note: Callable[[str], None]) -> None:
    """Refuse files, programs and the network from here on; `note` is told what was tried.

    Python's own library can be read, because modules load others when they are first used.
    """

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            if _is_library(arguments):
                return
        elif not event.startswith(_REFUSED) or _is_listing(event, arguments):
            return
        tried = f"{event} {arguments[0]!r}" if arguments else event
        note(tried)
        raise Forbidden(tried)

    sys.addaudithook(hook)


def _is_library(arguments: tuple[Any, ...]) -> bool:
    path, mode, flags = arguments
    reads = mode in {"r", "rb"} or (mode is None and flags & os.O_ACCMODE == os.O_RDONLY)
    return reads and isinstance(path, str) and _is_below(path)


def _is_listing(event: str, arguments: tuple[Any, ...]) -> bool:
    return event == "os.listdir" and isinstance(arguments[0], str) and _is_below(arguments[0] + "/")


def _is_below(path: str) -> bool:
    return path.startswith(_LIBRARY) and ".." not in path
