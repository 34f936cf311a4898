"""The terminal of a conversation: lines typed while the agent works, text as it comes."""

import asyncio
import sys
import threading
from collections import deque
from typing import TextIO

from siding.faces.cli.screen.screen import Screen

_LONGEST = 64 << 20  # characters of a line: images come in them


class TypedLines:
    """Lines of a stream, one after the other; None at its end."""

    def __init__(self, source: TextIO | None = None) -> None:
        self._source = sys.stdin if source is None else source
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._early: deque[str] = deque()  # typed before a question, and no answer to it
        # A daemon: a read that waits for a person cannot be ended, and must not keep the process.
        threading.Thread(target=self._read, name="input", daemon=True).start()

    async def next(self) -> str | None:
        """Return the next line with its newline; None at the end, again and again."""
        if self._early:
            return self._early.popleft()
        line = await self._lines.get()
        if line is None:
            self._lines.put_nowait(None)
        return line

    async def fresh(self) -> str | None:
        """Return the next line that is typed from now on; None at the end.

        Lines that are there already are left to `next`.
        """
        while not self._lines.empty():
            line = self._lines.get_nowait()
            if line is None:
                self._lines.put_nowait(None)
                return None
            self._early.append(line)
        line = await self._lines.get()
        if line is None:
            self._lines.put_nowait(None)
        return line

    def _read(self) -> None:
        try:
            while line := self._source.readline(_LONGEST):
                self._loop.call_soon_threadsafe(self._lines.put_nowait, line)
        except (OSError, ValueError):
            pass
        finally:
            try:
                self._loop.call_soon_threadsafe(self._lines.put_nowait, None)
            except RuntimeError:
                pass  # the loop is closed: nobody waits for a line any more


class Output:
    """Writes text as it comes, and lines of their own between."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._at_start = True

    def line(self, text: str, style: str) -> None:
        """Write a line, on a line of its own."""
        self.fresh()
        self.write(self._screen.style(text, style) + "\n")

    def ask(self, text: str) -> None:
        """Write what stands before something that is typed."""
        self.fresh()
        self.write(self._screen.style(text, "bold"))
        self._at_start = True  # the person's newline ends it

    def fresh(self) -> None:
        """End a line that has begun."""
        if not self._at_start:
            self.write("\n")

    def write(self, text: str) -> None:
        """Write text."""
        if text:
            sys.stdout.write(text)
            sys.stdout.flush()
            self._at_start = text.endswith("\n")
