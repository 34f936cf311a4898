"""Which process started which."""

import sys

if sys.platform == "linux":
    from siding.process import procfs as processes
else:
    from siding.process import ps as processes

_DEEPEST = 1000  # parents looked at; pids change hands, so that a circle cannot be ruled out


def descends_from(pid: int, ancestor: int) -> bool:
    """Tell whether `ancestor` is a parent, grandparent and so on of the process `pid`.

    False as well for a process whose parent has ended: it belongs to init or a subreaper then.
    """
    for _ in range(_DEEPEST):
        status = processes.read_status(pid)
        if status is None or status.parent <= 0:
            return False
        if status.parent == ancestor:
            return True
        pid = status.parent
    return False
