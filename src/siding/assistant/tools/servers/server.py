"""A server of MCP that is connected, and its tools."""

import json
from collections.abc import Mapping
from itertools import count
from typing import Any, Protocol

from siding import __version__
from siding.assistant.tools.port import Call, Result, ToolSpec, Use
from siding.assistant.tools.servers.protocol import (
    Message,
    OfferedTool,
    ServerError,
    called,
    hello,
    notification,
    offered,
    request,
    result_in,
)

_SHOWN = 80  # characters of what a tool is given, for a person
_MOST_PAGES = 100  # of a list of tools


class Link(Protocol):
    """Brings messages to a server."""

    async def exchange(self, message: Message) -> Mapping[str, Any]:
        """Return the answer to a request. Raises ServerError."""
        ...

    async def tell(self, message: Message) -> None:
        """Bring a message that has no answer. Raises ServerError."""
        ...

    async def close(self) -> None:
        """End what was begun for the link."""
        ...


class Server:
    """Asks a server, whose name is the person's own."""

    def __init__(self, name: str, link: Link) -> None:
        self.name = name
        self.link = link
        self._numbers = count(1)

    async def tools(self) -> "dict[str, ServerTool]":
        """Connect, and return the tools by the names that models know. Raises ServerError."""
        await self.ask("initialize", hello(__version__))
        await self.link.tell(notification("notifications/initialized"))
        found: list[OfferedTool] = []
        page: dict[str, Any] = {}
        for _ in range(_MOST_PAGES):
            listing = await self.ask("tools/list", page)
            found += offered(self.name, listing)
            page = {"cursor": listing.get("nextCursor")}
            if not page["cursor"]:
                break
        return {each.spec.name: ServerTool(self, each) for each in found}

    async def ask(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the result of a request. Raises ServerError."""
        return result_in(await self.link.exchange(request(next(self._numbers), method, params)))


class ServerTool:
    """Implements `Tool`. Nobody here knows what it does: no call of it counts as safe."""

    def __init__(self, server: Server, offer: OfferedTool) -> None:
        self._server = server
        self._offer = offer

    @property
    def spec(self) -> ToolSpec:
        """See `Tool.spec`."""
        return self._offer.spec

    def is_safe(self, _given: Mapping[str, Any]) -> bool:
        """See `Tool.is_safe`."""
        return False

    def use(self, given: Mapping[str, Any]) -> Use:
        """See `Tool.use`."""
        shown = json.dumps(dict(given), ensure_ascii=False)
        cut = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
        return Use(text=f"{self._server.name}: {self._offer.name} {cut}")

    async def run(self, call: Call) -> Result:
        """See `Tool.run`."""
        params = {"name": self._offer.name, "arguments": dict(call.given)}
        try:
            return called(await self._server.ask("tools/call", params))
        except ServerError as error:
            return Result(f"The server {self._server.name!r} failed: {error}", is_error=True)
