"""Whose a connection over loopback is: the kernel says it of the client's own socket."""

import os
import sys
from collections.abc import Callable

_TABLE = "/proc/net/tcp"
_ESTABLISHED, _LOCAL, _STATE, _UID = "01", 1, 3, 7


def is_ours(port: int) -> bool:
    """Tell whether the socket at a port of 127.0.0.1 is of this user, where the system says it."""
    if sys.platform != "linux":
        return True
    try:
        with open(_TABLE, encoding="ascii") as table:
            found = owners_in(table.readlines(), port)
    except OSError:
        return True  # it does not tell
    return os.geteuid() in found


def anybody(_port: int) -> bool:
    """Let everybody in: the listener is in a network of the run's own."""
    return True


def owners_in(lines: list[str], port: int) -> set[int]:
    """Return the users of sockets at a port of 127.0.0.1 in the kernel's table."""
    local = f"0100007F:{port:04X}" if sys.byteorder == "little" else f"7F000001:{port:04X}"
    rows = (line.split() for line in lines[1:])
    return {int(row[_UID]) for row in rows if row[_LOCAL] == local and row[_STATE] == _ESTABLISHED}


Owners = Callable[[int], bool]
