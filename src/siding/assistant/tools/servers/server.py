"""A server of MCP that is connected, and its tools."""

import json
import re
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any, Protocol

from siding import __version__
from siding.assistant.tools.port import Block, Call, Result, ToolSpec, Use
from siding.ground.errors import SidingError
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import mapping, text

# -- What is said to a server of MCP, and what its answers mean. Pure ------------------------------


Message = dict[str, Any]

_VERSION = "2025-06-18"
_NO_NAME = re.compile(r"[^A-Za-z0-9_-]")  # what providers of models take in no name of a tool
_ANY_OBJECT: Mapping[str, Any] = {"type": "object"}


class ServerError(SidingError):
    """A server is not there, has not understood, or says what nobody understands."""

    code = "server_error"


class OfferedTool(NamedTuple):
    """A tool of a server: as the server calls it, and as a model does."""

    name: str
    spec: ToolSpec


def request(number: int, method: str, params: Mapping[str, Any]) -> Message:
    """Return a request, whose answer has the same number."""
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": dict(params)}


def notification(method: str) -> Message:
    """Return a message without an answer."""
    return {"jsonrpc": "2.0", "method": method}


def hello(version: str) -> Mapping[str, Any]:
    """Return what `initialize` says of us."""
    us = {"name": "siding", "version": version}
    return {"protocolVersion": _VERSION, "capabilities": {}, "clientInfo": us}


def result_in(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the result of an answer. Raises ServerError."""
    error = answer.get("error")
    if error is not None:
        raise ServerError(text(mapping(error).get("message")) or json.dumps(error))
    found = answer.get("result")
    if not isinstance(found, dict):
        raise ServerError("the answer has neither a result nor an error")
    return found


def offered(server: str, listing: Mapping[str, Any]) -> Sequence[OfferedTool]:
    """Return the tools of an answer to `tools/list`; what is no tool is left out."""
    found = []
    tools = listing.get("tools")
    for each in map(mapping, tools if isinstance(tools, list) else ()):
        name, schema = text(each.get("name")), each.get("inputSchema")
        if name:
            known = schema if isinstance(schema, dict) else _ANY_OBJECT
            spec = ToolSpec(full_name(server, name), text(each.get("description")), known)
            found.append(OfferedTool(name, spec))
    return found


def full_name(server: str, tool: str) -> str:
    """Return the name by which a model and the permissions know a tool of a server."""
    return f"mcp__{_NO_NAME.sub('_', server)}__{_NO_NAME.sub('_', tool)}"


def called(result: Mapping[str, Any]) -> Result:
    """Return the result of `tools/call` as that of a tool."""
    content = result.get("content")
    blocks = [_block(mapping(each)) for each in (content if isinstance(content, list) else ())]
    if not blocks and result.get("structuredContent") is not None:
        blocks = [_text(json.dumps(result["structuredContent"], ensure_ascii=False))]
    is_error = result.get("isError") is True
    if all(each["type"] == "text" for each in blocks):
        return Result("\n".join(each["text"] for each in blocks), is_error=is_error)
    return Result(tuple(blocks), is_error=is_error)


def _block(content: Mapping[str, Any]) -> Block:
    match content.get("type"):
        case "text":
            return _text(text(content.get("text")))
        case "image":
            kind, data = text(content.get("mimeType")), text(content.get("data"))
            source = {"type": "base64", "media_type": kind, "data": data}
            return {"type": "image", "source": source}
        case "resource" if "text" in mapping(content.get("resource")):
            resource = mapping(content.get("resource"))
            return _text(f"[{text(resource.get('uri'))}]\n{text(resource.get('text'))}")
        case _:
            return _text(json.dumps(content, ensure_ascii=False))


def _text(said: str) -> Block:
    return {"type": "text", "text": said}


# -- A server of MCP that is connected, and its tools ----------------------------------------------


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
