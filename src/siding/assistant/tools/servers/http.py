"""A server of MCP that is reached by HTTP: each message is a POST.

The answer is JSON, or a stream of events in which it comes (MCP's "streamable HTTP", 2025-06-18).
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from siding.assistant.tools.place import Answered, Http
from siding.assistant.tools.servers.server import Message, ServerError
from siding.ground.storage.fields import mapping, text

_LONGEST = 64 << 20  # bytes of an answer
_SILENCE_S = 600.0  # a tool may work for long before it says anything
_LEAVING_S = 2.0
_EVENTS = "text/event-stream"
_SHOWN = 200  # characters of what a server says with an error


class HttpLink:
    """Implements `Link`. `headers` are the person's own, such as what they log in with."""

    def __init__(self, url: str, headers: Mapping[str, str], http: Http) -> None:
        self._url = url
        self._own = {"Content-Type": "application/json", **headers}
        self._http = http
        self._session: dict[str, str] = {}  # headers that the server has asked for

    async def exchange(self, message: Message) -> Mapping[str, Any]:
        """See `Link.exchange`."""
        answer = _Answer(message["id"])
        head = await self._send(message, answer)
        found = answer.found()
        if found is None:
            raise ServerError("the server's answer has no answer to the request in it")
        if message["method"] == "initialize":
            version = text(mapping(found.get("result")).get("protocolVersion"))
            self._session = {"MCP-Protocol-Version": version} if version else {}
            if session := head.headers.get("mcp-session-id"):
                self._session["Mcp-Session-Id"] = session
        return found

    async def tell(self, message: Message) -> None:
        """See `Link.tell`."""
        await self._send(message, _Answer(None))

    async def close(self) -> None:
        """Tell the server that it may forget us."""
        if "Mcp-Session-Id" in self._session:
            with suppress(OSError, TimeoutError):
                await self._http.send(
                    "DELETE",
                    self._url,
                    b"",
                    headers={**self._own, **self._session},
                    take=lambda _head, _part: True,
                    silence_s=_LEAVING_S,
                )

    async def _send(self, message: Message, answer: "_Answer") -> Answered:
        try:
            head = await self._http.send(
                "POST",
                self._url,
                json.dumps(message).encode(),
                headers={
                    **self._own,
                    **self._session,
                    "Accept": f"application/json, {_EVENTS}",
                    "Accept-Encoding": "identity",
                },
                take=answer.take,
                silence_s=_SILENCE_S,
            )
        except (OSError, TimeoutError) as error:
            raise ServerError(f"{self._url}: {str(error) or 'no answer'}") from None
        if not 200 <= head.status < 300:
            raise ServerError(_refusal(self._url, head, answer.body))
        return head


class _Answer:
    """What came back so far. An answer may come amid other events of a stream."""

    def __init__(self, number: object) -> None:
        self._number = number
        self._found: Mapping[str, Any] | None = None
        self.body = bytearray()

    def take(self, head: Answered, part: bytes) -> bool:
        """Take a part of a body; tell whether that is enough."""
        self.body += part
        if len(self.body) > _LONGEST:
            raise OSError(f"the answer is longer than {_LONGEST:,} bytes")
        if not head.headers.get("content-type", "").startswith(_EVENTS):
            return False
        new = self.body[-len(part) - 3 :]
        if b"\n\n" not in new and b"\r\n\r\n" not in new:
            return False  # within an event, which may be long
        *whole, rest = bytes(self.body).replace(b"\r\n", b"\n").split(b"\n\n")
        self.body = bytearray(rest)
        for event in whole:
            self._look_at(_data_of(event))
        return self._found is not None

    def found(self) -> Mapping[str, Any] | None:
        """Return the answer; None if none came."""
        if self._found is None and self.body:
            self._look_at(bytes(self.body))
        return self._found

    def _look_at(self, data: bytes) -> None:
        try:
            message = json.loads(data)
        except ValueError:
            return
        for each in message if isinstance(message, list) else [message]:
            is_answer = isinstance(each, dict) and "method" not in each
            if is_answer and each.get("id") == self._number:
                self._found = each


def _data_of(event: bytes) -> bytes:
    lines = event.split(b"\n")
    return b"\n".join(line[5:].lstrip(b" ") for line in lines if line.startswith(b"data:"))


def _refusal(url: str, head: Answered, body: bytes | bytearray) -> str:
    said = " ".join(bytes(body[:_SHOWN]).decode("utf-8", "replace").split())
    what = f"{url} answers {head.status} {head.reason}".rstrip()
    if head.status in (401, 403):
        return f'{what}: it wants to know who asks; say it in `headers`, {{"Authorization": …}}'
    if location := head.headers.get("location"):
        return f"{what}: it is at {location}"
    return f"{what}: {said}" if said else what
