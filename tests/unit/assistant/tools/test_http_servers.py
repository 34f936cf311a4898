"""Servers of MCP by HTTP: one of the published library, and ones that answer oddly."""

import asyncio
import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from mcp_server import published
from siding.assistant.tools.port import Call
from siding.assistant.tools.servers import HttpLink, Server, ServerError, request
from siding.assistant.web_client import WebClient


@pytest.mark.parametrize("form", ["json", "events"])
def test_the_published_library_is_understood(form: str) -> None:
    async def hold(url: str) -> Any:
        link = HttpLink(url, {}, WebClient({}))
        tools = await Server("docs", link).tools()
        result = await tools["mcp__docs__search"].run(Call("1", "search", {"query": "a"}))
        await link.close()
        return list(tools), result

    with published(form) as url:
        names, result = asyncio.run(hold(url))
    assert names == ["mcp__docs__search"]
    assert (result.content, result.is_error) == ("found a", False)


class Odd:
    """A server that answers as it is told, and keeps what it was sent."""

    def __init__(self, answer: Callable[[BaseHTTPRequestHandler], None]) -> None:
        self.heads: list[dict[str, str]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.heads.append({k.lower(): v for k, v in self.headers.items()})
                answer(self)

            do_DELETE = do_POST  # noqa: N815 - as http.server calls it

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/mcp"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def odd() -> Iterator[Callable[..., Odd]]:
    made: list[Odd] = []

    def make(answer: Callable[[Any], None]) -> Odd:
        made.append(Odd(answer))
        return made[-1]

    yield make
    for each in made:
        each.close()


def said(handler: Any, body: bytes, status: int = 200, **headers: str) -> None:
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(body)
    handler.wfile.flush()


def answer_to(handler: Any, **result: Any) -> bytes:
    found = {"jsonrpc": "2.0", "id": handler.body["id"], "result": result}
    return json.dumps(found).encode()


def asked(server: Odd, **headers: str) -> Any:
    link = HttpLink(server.url, headers, WebClient({}))
    return asyncio.run(link.exchange(request(7, "tools/list", {})))["result"]


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("cut", [1, 7, 100_000])
def test_an_answer_amid_other_events_is_found_and_the_rest_not_waited_for(
    odd: Callable[..., Odd], end: bytes, cut: int
) -> None:
    waits = threading.Event()

    def answer(handler: Any) -> None:
        whole = answer_to(handler, text="x" * 300)
        events = [
            b": a comment",
            b'data: {"jsonrpc": "2.0", "method": "notifications/progress", "params": {}}',
            b'data: {"jsonrpc": "2.0", "id": 7, "method": "ping"}',
            b'data: {"jsonrpc": "2.0", "id": 8, "result": {}}',
            b"data: no JSON",
            b"event: message" + end + b"data: " + whole[:10] + end + b"data:" + whole[10:],
        ]
        stream = b"".join(each + end + end for each in events)
        said(handler, b"", Content_Type="text/event-stream; charset=utf-8")
        for at in range(0, len(stream), cut):
            handler.wfile.write(stream[at : at + cut])
        handler.wfile.flush()
        waits.wait(60)  # it keeps the stream open

    assert asked(odd(answer)) == {"text": "x" * 300}
    waits.set()


def test_what_the_server_asks_for_comes_back_and_the_persons_headers_go_along(
    odd: Callable[..., Odd],
) -> None:
    def answer(handler: Any) -> None:
        if "id" not in handler.body:
            said(handler, b"", 202)
            return
        fields: dict[str, Any] = {"tools": []} if handler.body["method"] == "tools/list" else {}
        whole = answer_to(handler, protocolVersion="2025-03-26", **fields)
        said(handler, whole, Content_Type="application/json", Mcp_Session_Id="s1")

    server = odd(answer)
    link = HttpLink(server.url, {"Authorization": "Bearer t"}, WebClient({}))
    asyncio.run(Server("docs", link).tools())
    first, *later = server.heads
    assert "mcp-session-id" not in first
    assert [each["mcp-session-id"] for each in later] == ["s1", "s1"]
    assert [each["mcp-protocol-version"] for each in later] == ["2025-03-26"] * 2
    assert {each["authorization"] for each in server.heads} == {"Bearer t"}


@pytest.mark.parametrize(
    ("status", "headers", "body", "wanted"),
    [
        (401, {}, b"", "answers 401 Unauthorized: it wants to know who asks"),
        (307, {"Location": "https://b/"}, b"", "it is at https://b/"),
        (500, {}, b"<h1>\n broken</h1>", "answers 500 Internal Server Error: <h1> broken</h1>"),
        (200, {"Content_Type": "application/json"}, b"[]", "no answer to the request"),
        (200, {"Content_Type": "text/event-stream"}, b"data: {}\n\n", "no answer to the request"),
        (200, {"Content_Type": "text/html"}, b"<p>hello", "no answer to the request"),
    ],
)
def test_what_is_no_answer_is_told(
    odd: Callable[..., Odd], status: int, headers: dict[str, str], body: bytes, wanted: str
) -> None:
    server = odd(lambda handler: said(handler, body, status, **headers))
    with pytest.raises(ServerError) as caught:
        asked(server)
    assert wanted in str(caught.value)


def test_a_call_that_is_given_up_hangs_up(odd: Callable[..., Odd]) -> None:
    gone = threading.Event()

    def answer(handler: Any) -> None:
        said(handler, b"", Content_Type="text/event-stream")
        try:
            while True:
                handler.wfile.write(b": still working\n\n")
                handler.wfile.flush()
                time.sleep(0.02)
        except OSError:
            gone.set()

    server = odd(answer)

    async def give_up() -> None:
        link = HttpLink(server.url, {}, WebClient({}))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(link.exchange(request(1, "tools/call", {})), 0.3)

    asyncio.run(give_up())
    assert gone.wait(60)
