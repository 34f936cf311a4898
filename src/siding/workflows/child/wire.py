"""Lines of JSON to and from the process that runs the workflow."""

import json
import os
from collections import deque
from typing import Any

encode = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), allow_nan=False).encode


class Wire:
    """The two pipes. What is sent is held back until `flush`, so that many lines go at once."""

    def __init__(self, fd_in: int, fd_out: int) -> None:
        self._in = os.fdopen(fd_in, "rb")
        self._fd_out = fd_out
        self._held: list[str] = []
        self._later: deque[dict[str, Any]] = deque()

    def send(self, message: dict[str, Any]) -> None:
        """Send one message, with the next `flush`."""
        self._held.append(encode(message))
        if len(self._held) >= 512:
            self.flush()

    def flush(self) -> None:
        """Write all that is held back."""
        if not self._held:
            return
        data = memoryview(("\n".join(self._held) + "\n").encode())
        self._held.clear()
        while data:
            data = data[os.write(self._fd_out, data) :]

    def receive(self) -> dict[str, Any]:
        """Wait for the next message; SystemExit if there will be none."""
        return self._later.popleft() if self._later else self._read()

    def request(self, message: dict[str, Any]) -> dict[str, Any]:
        """Send a message at once, and wait for the reply to it; other messages wait meanwhile."""
        self.send(message)
        self.flush()
        while "reply" not in (reply := self._read()):
            self._later.append(reply)
        return reply

    def _read(self) -> dict[str, Any]:
        line = self._in.readline()
        if not line.endswith(b"\n"):
            raise SystemExit(0)  # the engine is gone; so is the reason to go on
        message: dict[str, Any] = json.loads(line)
        return message
