"""The messages on a run's control socket, as bytes. `runs/FORMAT.md` describes them.

A message is one byte for its kind, four for the length of what follows (big-endian), and that.
"""

import json
import struct
from collections.abc import Iterator

from siding.ground.namedtuples import NamedTuple

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
