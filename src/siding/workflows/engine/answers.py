"""Put answers on disk, many at once, and only then give them to the script."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from siding.workflows.journal.records import Answer, JournalLine
from siding.workflows.journal.store import JournalWriter, encoded


class Answers:
    """The way from a call's outcome to the script. `seq` of an answer is its place on this way.

    What is put here while the disk is busy goes there with the next write and one flush.
    """

    def __init__(
        self,
        writer: JournalWriter,
        send: Callable[[Mapping[str, Any]], None],
        next_seq: int,
    ) -> None:
        self._writer = writer
        self._send = send
        self._next_seq = next_seq
        self._lines: list[bytes] = []
        self._messages: list[Mapping[str, Any]] = []
        self._tell: list[Callable[[], None]] = []
        self._wake = asyncio.Event()

    def record(
        self,
        answer: Answer,
        message: Mapping[str, Any] | None,
        tell: Callable[[], None] | None = None,
    ) -> None:
        """Record an answer; `message` gives it to the script when it is on disk.

        `tell` is called then, too: nobody hears of an answer that may still be lost.

        Raises NotStorable for a result that cannot be written down, and has done nothing.
        """
        self._lines.append(encoded(answer._replace(seq=self._next_seq)))
        self._next_seq += 1
        if tell is not None:
            self._tell.append(tell)
        if message is not None:
            self._messages.append(message)
            self._wake.set()

    def note(self, line: JournalLine) -> None:
        """Record another line, before the answers that come after it."""
        self._lines.append(encoded(line))

    def refuse(self, message: Mapping[str, Any]) -> None:
        """Give the script an error of which nothing is recorded."""
        self._messages.append(message)
        self._wake.set()

    async def deliver(self) -> None:
        """Write and send until cancelled. Raises OSError; nothing is sent then."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            self.flush()

    def flush(self) -> None:
        """Write what was put here, and send it. Raises OSError."""
        self.write()
        messages, self._messages = self._messages, []
        for message in messages:
            self._send(message)

    def write(self) -> None:
        """Write what was put here; whoever waits for it gets it with the next `flush`."""
        lines, self._lines = self._lines, []
        if lines:
            self._writer.write_encoded(lines)
        tell, self._tell = self._tell, []
        for each in tell:
            each()
