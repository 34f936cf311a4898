"""Read the frames of a WebSocket (RFC 6455) from a copy, and whole messages from frames. No I/O.

What a client sends is masked: only the beginning of it is unmasked, where it names a model. What a
server sends may be deflated (RFC 7692), one stream for all its messages.
"""

import zlib
from enum import IntEnum

from siding.ground.namedtuples import NamedTuple

LONGEST = 32 << 20  # bytes of a message
_LOOKED_AT = 4096  # bytes of what a client sends
_DEFLATE = "permessage-deflate"
_END_OF_MESSAGE = b"\x00\x00\xff\xff"
_FINAL, _DEFLATED, _KIND = 0x80, 0x40, 0x0F
_MASKED, _SIZE, _TWO_MORE, _EIGHT_MORE = 0x80, 0x7F, 126, 127


class Kind(IntEnum):
    """What a frame is of: one from 8 on is about the connection, and may come within a message."""

    MORE = 0
    TEXT = 1
    BINARY = 2
    CLOSE = 8


class Frame(NamedTuple):
    """One frame. Of a masked one `payload` is the beginning alone; `size` is that of all of it."""

    kind: int
    is_last: bool  # of its message
    is_deflated: bool
    size: int
    payload: bytes


class NotFrames(ValueError):
    """The bytes are no frames that can be read here; the message says why."""


class FrameReader:
    """Reads frames as their bytes come."""

    def __init__(self) -> None:
        self._held = bytearray()

    def feed(self, data: bytes) -> list[Frame]:
        """Return the frames that are whole now. Raises NotFrames."""
        self._held += data
        found = []
        while (frame := self._next()) is not None:
            found.append(frame)
        return found

    def _next(self) -> Frame | None:
        held = self._held
        if len(held) < 2:
            return None
        size, at = held[1] & _SIZE, 2
        more = {_TWO_MORE: 2, _EIGHT_MORE: 8}.get(size, 0)
        if more:
            size, at = int.from_bytes(held[at : at + more], "big"), at + more
        is_masked = bool(held[1] & _MASKED)
        at += 4 if is_masked else 0
        if len(held) < at:
            return None
        if size > LONGEST:
            raise NotFrames(f"a frame of it has more than {LONGEST >> 20} MiB")
        if len(held) < at + size:
            return None
        first, payload = held[0], bytes(held[at : at + size])
        if is_masked:
            payload = _unmasked(payload[:_LOOKED_AT], bytes(held[at - 4 : at]))
        del held[: at + size]
        return Frame(
            kind=first & _KIND,
            is_last=bool(first & _FINAL),
            is_deflated=bool(first & _DEFLATED),
            size=size,
            payload=payload,
        )


def _unmasked(data: bytes, mask: bytes) -> bytes:
    pattern = (mask * (len(data) // 4 + 1))[: len(data)]
    number = int.from_bytes(data, "big") ^ int.from_bytes(pattern, "big")
    return number.to_bytes(len(data), "big")


class MessageReader:
    """Reads the messages of a server. `extensions` is what it has agreed to."""

    def __init__(self, extensions: str) -> None:
        self._frames = FrameReader()
        self._parts: list[bytes] = []
        self._size = 0
        self._is_deflated = False
        self._inflate = zlib.decompressobj(wbits=-zlib.MAX_WBITS)
        names = {each.partition(";")[0].strip().lower() for each in extensions.split(",")}
        self._unknown = ", ".join(sorted(names - {_DEFLATE, ""}))

    def feed(self, data: bytes) -> list[bytes]:
        """Return the messages that are whole now. Raises NotFrames."""
        if self._unknown:
            raise NotFrames(f"its frames are made by {self._unknown[:40]!r}")
        found = []
        for frame in self._frames.feed(data):
            if frame.kind >= Kind.CLOSE:
                continue
            if frame.kind != Kind.MORE:
                self._parts, self._size, self._is_deflated = [], 0, frame.is_deflated
            self._parts.append(frame.payload)
            self._size += len(frame.payload)
            if self._size > LONGEST:
                raise NotFrames(f"a message of it has more than {LONGEST >> 20} MiB")
            if frame.is_last:
                found.append(self._whole())
        return found

    def _whole(self) -> bytes:
        data = b"".join(self._parts)
        if not self._is_deflated:
            return data
        if self._inflate.eof:
            self._inflate = zlib.decompressobj(wbits=-zlib.MAX_WBITS)
        try:
            return self._inflate.decompress(data + _END_OF_MESSAGE, LONGEST)
        except zlib.error as error:
            raise NotFrames(f"it is not deflated as it says: {error}") from error
