"""Whose a connection over loopback is: the kernel says it of the client's own socket.

It is asked about this one socket (`sock_diag`). Its table in /proc would tell as well, but reading
that took 70 ms here, because the kernel walks through all places where a socket could be.
"""

import os
import socket
import struct
import sys

_SOCK_DIAG, _BY_FAMILY, _ERROR, _REQUEST = 4, 20, 2, 1
_HEADER = struct.Struct("=IHHII")  # length, type, flags, sequence, port
_ASKED = struct.Struct("=BBBxI")  # family, protocol, extensions, states
_ENDS = struct.Struct("!HH16s16s")  # ports and addresses
_ANY = struct.Struct("=III")  # interface, cookie
_UID_AT = _HEADER.size + 4 + _ENDS.size + _ANY.size + 12
_LOOPBACK = socket.inet_aton("127.0.0.1").ljust(16, b"\0")
_ALL_STATES = 0xFFFFFFFF
_NOBODY = -1
_WAIT_S = 1.0


def is_ours(client: int, listener: int) -> bool:
    """Tell whether the socket that has connected from one port of 127.0.0.1 to another is ours.

    True where the system does not say.
    """
    if sys.platform != "linux":
        return True
    try:
        owner = owner_of(client, listener)
    except OSError:
        return True
    return owner in (os.geteuid(), _NOBODY)


def anybody(_client: int, _listener: int) -> bool:
    """Let everybody in: the listener is in a network of the run's own."""
    return True


def owner_of(client: int, listener: int) -> int:
    """Return the user whose socket has connected to a listener of loopback; -1 if it is not known.

    Raises OSError where the kernel cannot be asked.
    """
    ends = _ENDS.pack(client, listener, _LOOPBACK, _LOOPBACK) + _ANY.pack(0, *[0xFFFFFFFF] * 2)
    asked = _ASKED.pack(socket.AF_INET, socket.IPPROTO_TCP, 0, _ALL_STATES) + ends
    header = _HEADER.pack(_HEADER.size + len(asked), _BY_FAMILY, _REQUEST, 1, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, _SOCK_DIAG) as kernel:
        kernel.settimeout(_WAIT_S)
        kernel.send(header + asked)
        answer = kernel.recv(4096)
    kind = _HEADER.unpack_from(answer)[1]
    if kind != _BY_FAMILY or len(answer) < _UID_AT + 4:
        return _NOBODY  # an error: it has hung up already, or the kernel lacks this
    return int(struct.unpack_from("=I", answer, _UID_AT)[0])
