"""Ask the kernel whether a file is open for writing anywhere (`fcntl(2)`, "Leases")."""

import fcntl
import signal
import sys


def has_writer(fd: int) -> bool | None:
    """Tell whether a process can still store into a regular file that is open for reading here.

    That is one that has it open for writing, under whichever name, or mapped so (overlayfs does
    not know of mappings). None if this cannot be known: leases exist on Linux only, and only for
    files of one's own.
    """
    if sys.platform != "linux":
        return None
    try:
        # A process that opens the file for writing just now sends us a signal. That of leases
        # would end us; this one is ignored.
        fcntl.fcntl(fd, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except BlockingIOError:
        return True
    except OSError:
        return None
    fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    return False
