"""Tell this boot of the machine from earlier ones, and a process from a later one of its number."""

import os
import sys
import time
from pathlib import Path

from siding.ground.process.command import ProcessStatus

_LOOK_S = 0.01


def boot_id() -> str:
    """Return a text that is new after each start of the machine; "" if the system has none."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def started_of(pid: int | None = None) -> int:
    """Return the start time of a living process, 0 if it is gone; of this process for None."""
    status = _status(os.getpid() if pid is None else pid)
    return 0 if status is None else status.started


def name_of(pid: int) -> str:
    """Return a process as a person is told of it: its name and number."""
    status = _status(pid)
    return f"process {pid}" if status is None else f"{status.name} (process {pid})"


def signal_process(pid: int, started: int, number: int) -> bool:
    """Send a signal to the process that has this number and start time.

    Returns whether the process lived and was signalled; False without the permission, too.
    """
    status = _status(pid)
    if status is None or status.started != started:
        return False
    if sys.platform == "linux":
        from siding.ground.process.procfs import send_signal
    else:
        from siding.ground.process.ps import send_signal
    return send_signal(status, number)


def await_end(pid: int, started: int, *, seconds: float) -> bool:
    """Wait until the process that has this number and start time ends; False after `seconds`."""
    end = time.monotonic() + seconds
    while (status := _status(pid)) is not None and status.started == started:
        if time.monotonic() >= end:
            return False
        time.sleep(_LOOK_S)
    return True


def has_terminal() -> bool:
    """Tell whether our session has a terminal, also if all our streams go elsewhere."""
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC))
    except OSError:
        return False
    return True


def _status(pid: int) -> ProcessStatus | None:
    if sys.platform == "linux":
        from siding.ground.process.procfs import read_status
    else:
        from siding.ground.process.ps import read_status
    return read_status(pid)
