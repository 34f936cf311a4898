"""A run's control socket: its file, and the messages on it. `runs/FORMAT.md` describes them.

The host makes the file, viewers find it. `_socket` is what `socket` is built on; the latter takes
ten milliseconds to load, and each run that lives for a moment would pay for it.

A message is one byte for its kind, four for the length of what follows (big-endian), and that.
"""

import json
import os
import struct
import sys
from _socket import AF_UNIX, SOCK_STREAM, SOL_SOCKET, socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from siding.ground.namedtuples import NamedTuple

if sys.platform == "linux":
    from _socket import SO_PEERCRED

_LONGEST = 107 if sys.platform == "linux" else 103  # bytes of a path in a socket's address
_WAITING = 8  # connections that the kernel keeps for us
_PATIENCE_S = 10.0  # how long a host that does not answer is waited for

VERSION = 1
LONGEST = 64 << 10  # bytes of one message, without its head
_HEAD = struct.Struct(">cI")

# From a viewer.
HELLO = b"h"  # {"version", "mode": "attach" | "send" | "stop", "now", "rows", …}
TYPE = b"t"  # keys, as bytes
SIZE = b"s"  # {"rows", "columns"}: of the viewer's window
# From the host.
WELCOME = b"w"  # {"version", "terminal", "rows", "columns", "modes"}
OUTPUT = b"o"  # what the run printed, as bytes
SKIPPED = b"k"  # {"bytes"}: the viewer was too slow; this much was not sent, the screen follows
TYPED = b"a"  # {"bytes"}: how many of this viewer's bytes the program's terminal has taken
ENDED = b"e"  # {"exit_code", "ending"}
REFUSED = b"x"  # {"reason"}


def listen_at(path: Path) -> socket:
    """Return a socket that listens at this path, for this user only. Raises OSError."""
    path.unlink(missing_ok=True)
    listener = socket(AF_UNIX, SOCK_STREAM)
    try:
        with _short(path) as address:
            listener.bind(address)
        path.chmod(0o600)
        listener.listen(_WAITING)
        listener.setblocking(False)
    except BaseException:
        listener.close()
        raise
    return listener


def connect_to(path: Path) -> socket:
    """Return a socket that is connected to the host which listens at this path. Raises OSError."""
    connected = socket(AF_UNIX, SOCK_STREAM)
    try:
        with _short(path) as address:
            connected.connect(address)
        connected.settimeout(_PATIENCE_S)
    except BaseException:
        connected.close()
        raise
    return connected


def accept_from(listener: socket) -> socket | None:
    """Return the next connection; None if it is not one of this user outside of a sandbox.

    Raises OSError if there is none.
    """
    fd, _address = listener._accept()  # type: ignore[attr-defined]  # accept() is Python, in `socket`
    peer = socket(fileno=fd)
    peer.setblocking(False)
    if _may_connect(peer):
        return peer
    peer.close()
    return None


def _may_connect(peer: socket) -> bool:
    """Tell whether a peer is a process of this user that has no sandbox around it.

    A sandbox hides the socket. Where it cannot (Landlock does not govern connecting) the peer is
    known by its no_new_privs, which a sandboxed process cannot lose.
    """
    if sys.platform != "linux":
        return True  # the file's permissions decide
    pid, uid, _gid = struct.unpack("3i", peer.getsockopt(SOL_SOCKET, SO_PEERCRED, 12))
    if uid != os.getuid():
        return False
    return not _is_confined(pid) or _is_confined(os.getpid())


def _is_confined(pid: int) -> bool:
    """Tell whether a process has no_new_privs set; True if that cannot be read."""
    try:
        status = Path(f"/proc/{pid}/status").read_bytes()
    except OSError:
        return True
    return b"\nNoNewPrivs:\t0" not in status


@contextmanager
def _short(path: Path) -> Iterator[str]:
    """Yield a name of the path that fits into an address."""
    if len(os.fsencode(path)) <= _LONGEST:
        yield str(path)
        return
    if sys.platform != "linux":  # by way of a link
        beside = f"/tmp/siding-{os.urandom(8).hex()}"
        os.mkdir(beside, 0o700)
        try:
            os.symlink(path.parent, f"{beside}/d")
            yield f"{beside}/d/{path.name}"
        finally:
            Path(f"{beside}/d").unlink(missing_ok=True)
            os.rmdir(beside)
        return
    fd = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{fd}/{path.name}"
    finally:
        os.close(fd)


class BadFrame(ValueError):
    """What came is no message of this protocol."""


class Frame(NamedTuple):
    """One message."""

    kind: bytes
    data: bytes

    def fields(self) -> dict[str, object]:
        """Return the object that the message holds; raise BadFrame if it holds none."""
        try:
            found = json.loads(self.data)
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise BadFrame("no JSON object")
        return found


def encode(kind: bytes, data: bytes = b"") -> bytes:
    """Return a message as bytes."""
    assert len(data) <= LONGEST
    return _HEAD.pack(kind, len(data)) + data


def encode_fields(kind: bytes, **fields: object) -> bytes:
    """Return a message with these fields as bytes."""
    return encode(kind, json.dumps(fields).encode())


def encode_long(kind: bytes, data: bytes) -> list[bytes]:
    """Return as many messages as the data needs."""
    return [encode(kind, data[at : at + LONGEST]) for at in range(0, len(data), LONGEST)]


def take_frames(received: bytearray) -> Iterator[Frame]:
    """Yield the whole messages at the beginning of `received`, and remove them from it.

    Raises BadFrame for a message that is too long, before it has arrived.
    """
    while len(received) >= _HEAD.size:
        kind, length = _HEAD.unpack_from(received)
        if length > LONGEST:
            raise BadFrame("the message is too long")
        end = _HEAD.size + length
        if len(received) < end:
            return
        frame = Frame(kind, bytes(received[_HEAD.size : end]))
        del received[:end]
        yield frame


def number(value: object, *, most: int) -> int:
    """Return a field that should be a number from 0 to `most`; 0 for anything else."""
    return value if type(value) is int and 0 <= value <= most else 0
