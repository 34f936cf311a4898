"""What comes on standard input while the agent works: lines, read by a thread of their own."""

import asyncio
import sys
import threading
from collections import deque
from typing import TextIO

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
