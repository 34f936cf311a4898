"""The functions of `procfs` for systems without /proc (macOS), from the output of `ps`.

No test runs this on macOS. Start times have a resolution of one second, environments cannot be
read, and an orphan that left its process group is not found.
"""

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from siding.ground.process.command import ProcessStatus

_COLUMNS = "pid=,ppid=,pgid=,stat=,lstart=,comm="


def all_processes() -> dict[int, ProcessStatus]:
    """Return every living process by pid."""
    listing = subprocess.run(
        ["/bin/ps", "-axo", _COLUMNS],
        env={"LC_ALL": "C"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    ).stdout.decode(errors="replace")
    found = (_parse(line) for line in listing.splitlines())
    return {status.pid: status for status in found if status is not None}


def read_status(pid: int) -> ProcessStatus | None:
    """Return a living process's status; None when it is gone or a zombie."""
    return all_processes().get(pid)


def ticks_of(pid: int) -> int:  # noqa: ARG001 - the same shape as on Linux
    """Return 0: here a moment is quiet when nothing was printed for long enough."""
    return 0


def has_token(pid: int, token: str) -> bool:  # noqa: ARG001 - the same shape as on Linux
    """Return False: `ps` shows no environments."""
    return False


def tokens_of(pid: int) -> list[str]:  # noqa: ARG001 - the same shape as on Linux
    """Return nothing: `ps` shows no environments."""
    return []


def age_of(status: ProcessStatus) -> float:
    """Return for how many seconds a process has lived."""
    return time.time() - status.started


def directory_of(pid: int) -> Path | None:  # noqa: ARG001 - the same shape as on Linux
    """Return None: `ps` does not show it."""
    return None


def send_signal(status: ProcessStatus, number: int) -> bool:
    """Signal a process that was just listed; return False when we have no permission."""
    try:
        os.kill(status.pid, number)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return True


@contextmanager
def adopting_orphans() -> Iterator[None]:
    """Do nothing: macOS has no subreapers, so orphans go to launchd and only their group tells."""
    yield


def reap_adopted(commands: frozenset[int]) -> int:  # noqa: ARG001 - the same shape as on Linux
    """Return 0: nothing is ever adopted on macOS."""
    return 0


def chase_adopted(commands: frozenset[int], seconds: float) -> None:
    """Do nothing: nothing is ever adopted on macOS."""


def no_children() -> bool:
    """Return False: an orphan is not our child on macOS, so one may always be left."""
    return False


def _parse(line: str) -> ProcessStatus | None:
    fields = line.split(None, 9)  # lstart has five words: Sat Nov 21 15:34:00 2026
    if len(fields) < 10 or fields[3].startswith("Z"):
        return None
    pid, parent, group = int(fields[0]), int(fields[1]), int(fields[2])
    started = int(time.mktime(time.strptime(" ".join(fields[4:9]))))
    # Every command is a session and group leader, so its group stands for its session.
    return ProcessStatus(pid, fields[9].rpartition("/")[2], parent, group, group, started)
