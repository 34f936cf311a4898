"""A secret that a rule found, and how far a rule may look."""

import re
from functools import lru_cache, partial
from itertools import repeat

from siding.ground.namedtuples import NamedTuple

LEFT = 1024  # bytes a rule may look back from its trigger
RIGHT = 4096  # bytes it may look ahead before it must decide
JUDGED = 256  # bytes of a value that are looked at to decide whether it is a secret


class SecretSpan(NamedTuple):
    """A secret: ``data[start:end]``.

    `pending`: more bytes could change the result. `until`: the secret may go on behind the data,
    and this pattern finds the first byte after it. `quote` is put around the mark, so that JSON
    with a number in that place stays JSON. `block`: it is a private key; `open`: the key may go on
    behind the data. `wide`: the bytes around it are UTF-16.
    """

    start: int
    end: int
    kind: bytes
    pending: bool = False
    until: re.Pattern[bytes] | None = None
    quote: bytes = b""
    block: bool = False
    open: bool = False
    wide: bool = False

    @property
    def replacement(self) -> bytes:
        """What stands in the place of the secret."""
        if not (self.quote or self.wide):
            return mark(self.kind)
        text = self.quote + mark(self.kind) + self.quote
        return b"".join(bytes((each, 0)) for each in text) if self.wide else text


_made = partial(tuple.__new__, SecretSpan)


def plain_span(start: int, end: int, kind: bytes) -> SecretSpan:
    """Return a span that is whole and stands by itself, in a third of the time of its class."""
    return _made((start, end, kind, False, None, b"", False, False, False))


def plain_spans(starts: list[int], ends: list[int], kind: bytes) -> list[SecretSpan]:
    """Return such spans with these starts and ends, each in half of that time."""
    rest = map(repeat, plain_span(0, 0, kind)[2:])
    return list(map(_made, zip(starts, ends, *rest, strict=False)))


@lru_cache(maxsize=256)
def mark(kind: bytes) -> bytes:
    """Return the text that replaces a secret."""
    return b"[redacted:" + kind + b"]"


def is_marked(text: str) -> bool:
    """Return whether a secret was replaced in the text."""
    return "[redacted:" in text
