"""The broker of the run, asked from an event loop: one connection for each request."""

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from siding.ground.process.broker.client import NoBroker

_LONGEST = 4 << 20  # bytes of an answer


class RunBroker:
    """Asks over the socket at `path`. A request that is cancelled hangs up.

    Implements `tools.place.Broker`.
    """

    def __init__(self, path: str) -> None:
        self._path = path

    async def request(self, fields: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the answer to a request. Raises OSError."""
        line = json.dumps(fields).encode() + b"\n"
        reader, writer = await asyncio.open_unix_connection(self._path, limit=_LONGEST)
        try:
            with suppress(ConnectionError):  # why it hung up stands in what it has sent
                writer.write(line)
                await writer.drain()
            answer = await reader.readline()
        except ValueError:
            raise NoBroker("the broker's answer is too long") from None
        finally:
            writer.close()
        if not answer.endswith(b"\n"):
            raise NoBroker("the broker went away before it answered")
        try:
            found = json.loads(answer)
        except (ValueError, RecursionError):
            raise NoBroker("the broker's answer cannot be read") from None
        if not isinstance(found, dict):
            raise NoBroker("the broker's answer is no object")
        return found
