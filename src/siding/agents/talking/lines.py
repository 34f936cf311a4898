"""Cut what an agent prints into lines, each a JSON object.

A line may be of any length up to `MOST`. What is longer, or is no object, is `Unread`, and the next
line is read as ever. Where the bytes are cut makes no difference.
"""

import json
from collections.abc import Mapping
from typing import Any

from siding.agents.talking.port import Unread
from siding.ground.namedtuples import NamedTuple

MOST = 64 << 20  # bytes of a line: a picture in a tool's result has several millions
_SHOWN = 64 << 10  # bytes that are kept of a line that is longer than `MOST`


class JsonLine(NamedTuple):
    """A line that is an object."""

    said: Mapping[str, Any]
    raw: bytes

    def unread(self) -> Unread:
        """Return the event for a line that nobody understands."""
        return Unread(_readable(self.raw))


class LineCutter:
    """Takes bytes as they come, and returns the lines that are whole."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._pieces: list[bytes] = []  # of the line that is not whole yet
        self._size = 0

    def take(self, data: bytes) -> list[JsonLine | Unread]:
        *whole, rest = data.split(b"\n")
        found: list[JsonLine | Unread] = []
        for piece in whole:
            self._keep(piece)
            line, size = b"".join(self._pieces), self._size
            self._pieces.clear()
            self._size = 0
            if size > self._most:
                found.append(Unread(_readable(line[:_SHOWN])))
            elif line.strip():
                found.append(_parsed(line))
        self._keep(rest)
        return found

    def _keep(self, piece: bytes) -> None:
        """Keep a piece of a line; of a line that is too long, no more than its beginning."""
        self._size += len(piece)
        if self._size <= self._most:
            self._pieces.append(piece)
        else:
            self._pieces = [b"".join([*self._pieces, piece])[:_SHOWN]]


def in_line(message: Mapping[str, Any]) -> bytes:
    """Return an object as a line. Half a character of UTF-16 becomes a question mark."""
    said = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
    return said.encode(errors="replace") + b"\n"


def _parsed(line: bytes) -> JsonLine | Unread:
    try:
        said = json.loads(line)
        if b"\\u" in line:
            said = _whole_characters(said)
    except (ValueError, RecursionError):
        return Unread(_readable(line))
    return JsonLine(said=said, raw=line) if isinstance(said, dict) else Unread(_readable(line))


def _whole_characters(said: Any) -> Any:
    r"""Replace what JSON can say and UTF-8 cannot: half a character (``\ud83d`` alone)."""
    written = json.dumps(said, ensure_ascii=False)
    try:
        written.encode()
    except UnicodeEncodeError:
        return json.loads(written.encode(errors="replace"))
    return said


def _readable(line: bytes) -> str:
    return line.decode(errors="replace").strip()
