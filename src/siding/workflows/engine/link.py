"""The connection with the process of a script, and whether that computes and never waits."""

import asyncio
import json
import os
from collections.abc import Callable, Mapping
from typing import Any

from siding.workflows.engine.ports import ScriptProcess

MAX_LINE_BYTES = 64 << 20  # far more than a script can send
_encode = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), allow_nan=False).encode


class Silence:
    """Counts the time in which a script has something to take and does not come to wait for it."""

    def __init__(self, limit_s: float, on_silence: Callable[[], None]) -> None:
        self._limit_s = limit_s
        self._on_silence = on_silence
        self._unanswered = 0  # messages to the script after which it has not waited yet
        self._timer: asyncio.TimerHandle | None = None

    def sent(self) -> None:
        """Count a message to the script."""
        self._unanswered += 1
        self._begin()

    def waits(self) -> None:
        """Note that the script has taken a message and waits."""
        self._unanswered -= 1
        self._begin()

    def stop(self) -> None:
        """Count no longer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _begin(self) -> None:
        self.stop()
        if self._unanswered:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self._limit_s, self._on_silence)


class _Lines(asyncio.Protocol):
    """Takes lines apart as they come."""

    def __init__(self, on_line: Callable[[bytes], None], on_end: Callable[[], None]) -> None:
        self._on_line = on_line
        self._on_end = on_end
        self._parts: list[bytes] = []
        self._size = 0

    def data_received(self, data: bytes) -> None:
        *lines, rest = data.split(b"\n")
        for line in lines:
            self._parts.append(line)
            whole = b"".join(self._parts)
            self._parts, self._size = [], 0
            self._on_line(whole)
        if rest:
            self._parts.append(rest)
            self._size += len(rest)
            if self._size > MAX_LINE_BYTES:
                self._on_end()

    def connection_lost(self, _exc: Exception | None) -> None:
        self._on_end()


class Link:
    """Sends messages to the process and gives each of its own to `on_message`.

    `on_end` is called when it says nothing more, also after `close`.
    """

    def __init__(self, process: ScriptProcess) -> None:
        self._process = process
        self._read: asyncio.ReadTransport | None = None
        self._write: asyncio.WriteTransport | None = None

    async def open(
        self, on_message: Callable[[dict[str, Any]], None], on_end: Callable[[], None]
    ) -> None:
        """Connect with the process. What is no message is its end."""

        def take(line: bytes) -> None:
            try:
                message = json.loads(line)
            except (ValueError, RecursionError):
                on_end()
            else:
                on_message(message)

        loop = asyncio.get_running_loop()
        reading = os.fdopen(self._process.from_program, "rb", buffering=0)
        writing = os.fdopen(self._process.to_program, "wb", buffering=0)
        self._read, _ = await loop.connect_read_pipe(lambda: _Lines(take, on_end), reading)
        self._write, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, writing)

    def send(self, message: Mapping[str, Any]) -> None:
        """Send a message; if the process is gone, `on_end` says so."""
        assert self._write is not None
        self._write.write(_encode(message).encode() + b"\n")

    def close(self) -> tuple[int, str]:
        """End the process; return its status, and the last line of what it complained about."""
        status = self._process.end()
        for transport in (self._read, self._write):
            if transport is not None:
                transport.close()
        return status, self._process.complaint
