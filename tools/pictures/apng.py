"""Join PNGs of one size to one that moves (APNG; the third edition of PNG has it).

The first picture is also what a program shows that knows no APNG.
"""

import struct
import zlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

SIGNATURE = b"\x89PNG\r\n\x1a\n"


class Frame(NamedTuple):
    """A picture, and how long it is shown."""

    png: bytes
    shown_s: float


class Chunk(NamedTuple):
    """A piece of a PNG."""

    kind: bytes
    data: bytes


def chunks(png: bytes) -> Iterator[Chunk]:
    """Yield the pieces of a PNG. Raises ValueError if it is not one, or is damaged."""
    if not png.startswith(SIGNATURE):
        raise ValueError("not a PNG")
    at, kind = len(SIGNATURE), b""
    while at + 12 <= len(png) and kind != b"IEND":
        (length,) = struct.unpack_from(">I", png, at)
        kind, data = png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        if png[at + 8 + length : at + 12 + length] != struct.pack(">I", zlib.crc32(kind + data)):
            raise ValueError(f"chunk {kind!r} is damaged")
        yield Chunk(kind, data)
        at += 12 + length
    if at != len(png) or kind != b"IEND":
        raise ValueError("it has no end, or goes on after it")


def animated(frames: Sequence[Frame]) -> bytes:
    """Return a PNG that shows the frames one after the other, for ever.

    Raises ValueError if they do not fit together, or one is damaged.
    """
    heads = {next(chunks(frame.png)) for frame in frames}
    if len(heads) != 1:
        raise ValueError("the frames are not of one size and one kind of pixel")
    head = heads.pop()
    width, height = struct.unpack_from(">II", head.data)
    made = [head, Chunk(b"acTL", struct.pack(">II", len(frames), 0))]
    number = 0
    for frame in frames:
        delay = (round(frame.shown_s * 1000), 1000)
        control = struct.pack(">IIIIIHHBB", number, width, height, 0, 0, *delay, 0, 0)
        made.append(Chunk(b"fcTL", control))
        number += 1
        for chunk in chunks(frame.png):
            if chunk.kind != b"IDAT":
                continue
            if frame is frames[0]:
                made.append(chunk)
            else:
                made.append(Chunk(b"fdAT", struct.pack(">I", number) + chunk.data))
                number += 1
    return SIGNATURE + b"".join(map(_written, [*made, Chunk(b"IEND", b"")]))


def _written(chunk: Chunk) -> bytes:
    checked = chunk.kind + chunk.data
    size, check = struct.pack(">I", len(chunk.data)), struct.pack(">I", zlib.crc32(checked))
    return size + checked + check
