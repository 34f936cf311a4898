"""What the rules find, and how far they may look."""

import re
from typing import NamedTuple

LEFT = 1024  # bytes a rule may look back from where it was triggered
RIGHT = 4096  # bytes it may look ahead before it has to decide
JUDGED = 256  # bytes of a value that tell whether it is a secret


class Span(NamedTuple):
    """A secret: ``data[start:end]``.

    `pending` when more bytes could change what is found; `until` finds the first byte behind a
    secret that may be longer than what is there. `quote` is put around the mark, so that a number
    in JSON stays JSON. `block`: a private key, `open` if it
    goes on behind what is there.
    """

    start: int
    end: int
    kind: bytes
    pending: bool = False
    until: re.Pattern[bytes] | None = None
    quote: bytes = b""
    block: bool = False
    open: bool = False


def mark(kind: bytes) -> bytes:
    """Return what stands in a secret's place."""
    return b"[redacted:" + kind + b"]"
