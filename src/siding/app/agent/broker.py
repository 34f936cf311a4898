"""The broker of the run, asked from an event loop: one connection for each request."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from siding.storage.fields import mapping

_LONGEST = 4 << 20  # bytes of an answer


class RunBroker:
    """Passes requests to the broker whose socket is at `path`. Implements `tools.place.Broker`."""

    def __init__(self, path: str) -> None:
        self._path = path

    async def request(self, fields: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the answer, however long it takes; cancelled, it hangs up. Raises OSError."""
        reader, writer = await asyncio.open_unix_connection(self._path, limit=_LONGEST)
        try:
            writer.write(json.dumps(fields).encode() + b"\n")
            await writer.drain()
            line = await reader.readline()
        except ValueError as error:  # a line that is too long
            raise ConnectionError("the broker's answer is too long") from error
        finally:
            writer.close()
        if not line.endswith(b"\n"):
            raise ConnectionError("the broker went away before it answered")
        try:
            return mapping(json.loads(line))
        except ValueError as error:
            raise ConnectionError("the broker's answer is no JSON") from error
