"""Where there is no /proc (macOS): what `ps` says, with the functions of `procfs`.

Best effort, and not tested here. Start times have a resolution of one second; environments are
not looked at; an orphan that left both its parent and its process group is not found.
"""

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

from siding.process.status import Status

_COLUMNS = "pid=,ppid=,pgid=,stat=,lstart=,comm="


def all_processes() -> dict[int, Status]:
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


def read_status(pid: int) -> Status | None:
    """Return a living process's status; None when it is gone or only waits to be reaped."""
    return all_processes().get(pid)


def has_token(pid: int, token: str) -> bool:  # noqa: ARG001 - the same shape as on Linux
    """Never: `ps` shows no environments."""
    return False


def send_signal(status: Status, number: int) -> bool:
    """Signal a process just listed; False when we may not."""
    try:
        os.kill(status.pid, number)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return True


@contextmanager
def adopting_orphans() -> Iterator[None]:
    """There are no subreapers here: orphans go to launchd and are found by their group only."""
    yield


def reap_adopted(commands: frozenset[int]) -> int:  # noqa: ARG001 - the same shape as on Linux
    """Nothing is ever adopted here."""
    return 0


def chase_adopted(commands: frozenset[int], seconds: float) -> None:
    """Nothing is ever adopted here."""


def no_children() -> bool:
    """Never certain here: an orphan is not our child."""
    return False


def _parse(line: str) -> Status | None:
    fields = line.split(None, 9)  # lstart has five words: Sat Nov 21 15:34:00 2026
    if len(fields) < 10 or fields[3].startswith("Z"):
        return None
    pid, parent, group = int(fields[0]), int(fields[1]), int(fields[2])
    started = int(time.mktime(time.strptime(" ".join(fields[4:9]))))
    # Every command is a session and group leader, so its group stands for its session.
    return Status(pid, fields[9].rpartition("/")[2], parent, group, group, started)
