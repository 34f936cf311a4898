"""A server of MCP that is connected, and its tools: a process of ours, or reached by HTTP.

Protocol: Model Context Protocol, revision 2025-06-18: JSON-RPC 2.0, of which only `initialize`,
`tools/list` and `tools/call` are used. To a process a message is a line of its standard streams, by
HTTP it is a POST.
"""

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import count
from typing import Any, Protocol

from siding import __version__
from siding.assistant.tools.place import Answered, Http
from siding.assistant.tools.port import Block, Call, Result, ToolSpec, Use
from siding.ground.errors import SidingError
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import mapping, text

# -- What is said to a server of MCP, and what its answers mean. Pure ------------------------------


Message = dict[str, Any]
_VERSION = "2025-06-18"
_NO_NAME = re.compile(r"[^A-Za-z0-9_-]")  # what providers of models take in no name of a tool
_ANY_OBJECT: Mapping[str, Any] = {"type": "object"}
_SHOWN = 80  # characters of what a tool is given, for a person
_MOST_PAGES = 100  # of a list of tools
_LONGEST = 64 << 20  # bytes of a message
_GRACE_S = 2.0  # for a server whose input has ended
_LONGEST_ANSWER = 64 << 20  # bytes of an answer
_SILENCE_S = 600.0  # a tool may work for long before it says anything
_LEAVING_S = 2.0
_EVENTS = "text/event-stream"
_SHOWN_OF_REFUSAL = 200  # characters of what a server says with an error


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


# -- A server that is a process of ours ------------------------------------------------------------


class ProcessLink:
    """Implements `Link`. What the server says on standard error goes where ours goes."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._waiting: dict[object, asyncio.Future[Mapping[str, Any]]] = {}
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def started(
        cls, argv: Sequence[str], *, env: Mapping[str, str], cwd: str
    ) -> "ProcessLink":
        """Start a server. Raises ServerError."""
        try:
            process = await asyncio.create_subprocess_exec(
                *argv,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                env=dict(env),
                cwd=cwd,
                limit=_LONGEST,
                start_new_session=True,  # a Ctrl-C is for the turn, not for the server
            )
        except (OSError, ValueError) as error:
            raise ServerError(f"{argv[0]!r} does not start: {error}") from None
        return cls(process)

    async def exchange(self, message: Message) -> Mapping[str, Any]:
        """See `Link.exchange`."""
        if self._reading.done():
            raise ServerError("it has ended")
        waiting = asyncio.get_running_loop().create_future()
        self._waiting[message["id"]] = waiting
        try:
            await self.tell(message)
            found: Mapping[str, Any] = await waiting
            return found
        finally:
            self._waiting.pop(message["id"], None)

    async def tell(self, message: Message) -> None:
        """See `Link.tell`."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
            await self._process.stdin.drain()
        except OSError as error:
            raise ServerError(f"it does not listen: {error}") from None

    async def close(self) -> None:
        """End the server: by the end of its input, or else by a signal."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            await asyncio.wait_for(self._process.wait(), _GRACE_S)
        except TimeoutError:
            with suppress(ProcessLookupError):
                self._process.kill()
            await self._process.wait()
        await self._reading

    async def _read(self) -> None:
        assert self._process.stdout is not None
        try:
            while line := await self._process.stdout.readline():
                await self._take(line)
        except ValueError:  # a line is longer than any message
            pass
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(ServerError("it has ended before it answered"))

    async def _take(self, line: bytes) -> None:
        """Take an answer; refuse what the server asks of us, and pass over what it tells."""
        try:
            message = json.loads(line)
        except ValueError:
            return  # some print what is no message
        if not isinstance(message, dict):
            return
        if "method" not in message:
            waiting = self._waiting.get(message.get("id"))
            if waiting is not None and not waiting.done():
                waiting.set_result(message)
        elif "id" in message:
            is_ping = message["method"] == "ping"
            error = {"code": -32601, "message": f"siding does not know {message['method']!r}"}
            answer = {"result": {}} if is_ping else {"error": error}
            with suppress(ServerError):
                await self.tell({"jsonrpc": "2.0", "id": message["id"], **answer})


# -- A server that is reached by HTTP --------------------------------------------------------------


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
        if len(self.body) > _LONGEST_ANSWER:
            raise OSError(f"the answer is longer than {_LONGEST_ANSWER:,} bytes")
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
    said = " ".join(bytes(body[:_SHOWN_OF_REFUSAL]).decode("utf-8", "replace").split())
    what = f"{url} answers {head.status} {head.reason}".rstrip()
    if head.status in (401, 403):
        return f'{what}: it wants to know who asks; say it in `headers`, {{"Authorization": …}}'
    if location := head.headers.get("location"):
        return f"{what}: it is at {location}"
    return f"{what}: {said}" if said else what
