"""What this process of a test run does, for who waits for it too long (`prove/supervise.py`).

A file in the directory that SIDING_STACKS names has the name of this process. It says which test
runs, and gets the stacks of all threads when SIGUSR1 comes: also of a process that waits in C.
"""

import faulthandler
import os
import signal
from pathlib import Path

_fd: int | None = None


def offer() -> None:
    """Be ready to be asked, if somebody may ask."""
    global _fd
    directory = os.environ.get("SIDING_STACKS")
    if directory and _fd is None:
        path = Path(directory, str(os.getpid()))
        _fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        faulthandler.register(signal.SIGUSR1, _fd, all_threads=True)


def say(what: str) -> None:
    """Write down what is done now, instead of what was done before."""
    if _fd is not None:
        os.ftruncate(_fd, 0)
        os.write(_fd, what.encode() + b"\n")
