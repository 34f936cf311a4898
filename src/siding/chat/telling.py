"""Tell the recorder of a run what its agent's protocol says: a turn begins, and a turn has ended.

Many agents have no hooks, and no agent's hooks know our prompts. What is told goes the way of every
report of an agent, in plain words (`siding.agents.plain_words`), so a turn is a step as ever.
"""

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread
from typing import Any

from siding.agents.table import ANY
from siding.ground.process.broker import client


class Teller:
    """Tells one thing after the other, in a thread of its own."""

    def __init__(self, socket: str) -> None:
        self._socket = socket
        self._waiting: SimpleQueue[tuple[Mapping[str, Any], Callable[[], None]] | None] = (
            SimpleQueue()
        )
        self._thread = Thread(target=self._work, name="siding: turns", daemon=True)
        self._thread.start()

    def tell(self, moment: str, then: Callable[[], None], **fields: str) -> None:
        """Tell of a moment; `then` is called when it is recorded, or cannot be."""
        self._waiting.put(({"moment": moment, **fields}, then))

    def close(self) -> None:
        """Wait until everything was told."""
        self._waiting.put(None)
        self._thread.join()

    def _work(self) -> None:
        while (found := self._waiting.get()) is not None:
            payload, then = found
            with suppress(OSError, ValueError):
                self._report(payload)
            then()

    def _report(self, payload: Mapping[str, Any]) -> None:
        if not self._socket:
            return
        connection = client.connect(self._socket)
        try:
            line = json.dumps({"do": "report", "agent": ANY, "payload": payload})
            client.ask_line(connection, line.encode("utf-8", "replace"))
        finally:
            connection.close()
