"""Read the output of an agent as it comes: JSON lines, or plain text."""

import json
from collections.abc import Mapping
from typing import Any

from siding.agents.headless.port import Seen

LONGEST_TEXT = 8 << 20  # characters of a result that are kept
_LONGEST_LINE = 64 << 20  # bytes; a tool's result may hold a whole file
_LONGEST_SAYING = 200


class JsonLines:
    """The part of a stream that is the same for all agents that print JSON lines.

    A line that is no JSON object is passed over: programs print warnings among them.
    """

    def __init__(self) -> None:
        self.seen = Seen()
        self._begun = bytearray()
        self._passing = False  # the rest of a line that is too long

    def feed(self, data: bytes) -> None:
        *whole, rest = data.split(b"\n")
        for piece in whole:
            self._line(bytes(self._begun) + piece if self._begun else piece)
            self._begun.clear()
            self._passing = False
        if len(self._begun) + len(rest) > _LONGEST_LINE:
            self._begun.clear()
            self._passing = True
        if not self._passing:
            self._begun += rest

    def end(self) -> None:
        if self._begun:
            self._line(bytes(self._begun))
            self._begun.clear()

    def on_event(self, event: Mapping[str, Any]) -> None:
        """Take one line into `seen`."""
        raise NotImplementedError

    def _line(self, line: bytes) -> None:
        if self._passing or not line.lstrip().startswith(b"{"):
            return
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            return
        self.on_event(event)


class PlainText:
    """The standard output of a program as its last message."""

    def __init__(self) -> None:
        self.seen = Seen()
        self._pieces: list[str] = []
        self._kept = 0

    def feed(self, data: bytes) -> None:
        text = data.decode("utf-8", "replace")
        if self._kept < LONGEST_TEXT:
            self._pieces.append(text)
            self._kept += len(text)
        self.seen = self.seen._replace(says=last_line(text) or self.seen.says)

    def end(self) -> None:
        text = "".join(self._pieces)[:LONGEST_TEXT]
        # As `$(command)` has it in a shell: the newline ends the line and is not of the result.
        self.seen = self.seen._replace(text=text.rstrip("\n"), ended=True)


def last_line(text: str) -> str:
    """Return the last line of a text that says something, cut for a list; "" for none."""
    for line in reversed(text[-4096:].splitlines()):
        if line.strip():
            return shown(line)
    return ""


def shown(line: str) -> str:
    """Return a text as one line that fits into a list."""
    words = " ".join(line.split())
    return words if len(words) <= _LONGEST_SAYING else words[: _LONGEST_SAYING - 1] + "…"
