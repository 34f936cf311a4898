"""The proxy that measures: every byte goes on as it came, and what ends one end ends the other."""

import gzip
import json
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from integration.wire.world import PATIENCE_S, SECRET, MeterAtWork, Server, Talk, meter
from unit.sandbox.wire.answers import ANSWERS

BODY = b'{"model": "a-model", "messages": []}'
HEAD = (
    b"POST /%s/v1/messages?beta=true HTTP/1.1\r\nhOST:   127.0.0.1:1\r\n"
    b"X-Api-Key:   sk-of-a-test \r\naccept-encoding: br\r\n"
)
SIZED = HEAD + b"Content-Length: %d\r\n\r\n"
STREAM = ANSWERS[0]


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as made:
        yield made


@pytest.fixture
def proxy(tmp_path: Path, server: Server) -> Iterator[MeterAtWork]:
    with meter(tmp_path, server) as at_work:
        yield at_work


def request(body: bytes = BODY, secret: str = SECRET) -> bytes:
    return SIZED % (secret.encode(), len(body)) + body


def as_sent(port: int, data: bytes) -> bytes:
    """Return what the server gets of a request: another path, and its own name."""
    data = data.replace(b"/%s/" % SECRET.encode(), b"/", 1)
    return data.replace(b"hOST:   127.0.0.1:1", b"hOST: 127.0.0.1:%d" % port, 1)


def chunked(data: bytes, size: int = 700) -> bytes:
    parts = (data[at : at + size] for at in range(0, len(data), size))
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


def answer(body: bytes, *more: bytes) -> bytes:
    return (
        b"HTTP/1.1 200 OK\r\n" + b"".join(more) + b"Content-Length: %d\r\n\r\n" % len(body) + body
    )


def begun(proxy: MeterAtWork, server: Server, data: bytes | None = None) -> tuple[Talk, Talk]:
    """Send a request; return the client's end and the server's, which has read it."""
    data = request() if data is None else data
    client = proxy.client()
    client.send(data)
    at_server = server.accept()
    expected = as_sent(server.port, data)
    assert at_server.take(len(expected)) == expected
    return client, at_server


class TestBytes:
    def test_of_a_request_are_as_they_came(self, proxy: MeterAtWork, server: Server) -> None:
        sized = request(bytes(range(256)) * 4000 + b"the end of a long body")
        parts = HEAD % SECRET.encode() + b"Transfer-Encoding: chunked\r\n\r\n" + chunked(BODY, 5)
        for data in (sized, parts):
            client, at_server = begun(proxy, server, data)
            at_server.send(answer(b"ok"))
            assert client.until(b"ok") == answer(b"ok")
            client.close()

    def test_of_an_answer_are_as_they_came(self, proxy: MeterAtWork, server: Server) -> None:
        kind = b"Content-Type: %s\r\n" % STREAM.content_type.encode()
        packed = chunked(gzip.compress(STREAM.body), 33)
        odd = b"HTTP/1.1  200\r\nX :y\n\nno HTTP \x00\xff"
        for data in (
            b"HTTP/1.1 200 OK\r\nSET-cookie:a=b\r\n"
            + kind
            + b"Connection: close\r\n\r\n"
            + STREAM.body,
            b"HTTP/1.1 200 OK\r\n" + kind + b"Content-Encoding: gzip\r\nConnection: close\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n" + packed,
            odd,
        ):
            client, at_server = begun(proxy, server)
            at_server.send(data)
            at_server.close()
            assert client.rest() == data
        lines = proxy.ends()
        assert [line.get("tokens") for line in lines] == [counts(), counts(), None]
        assert lines[2]["why"] == "the answer is no HTTP/1.1"

    def test_go_on_at_once(self, proxy: MeterAtWork, server: Server) -> None:
        """Each piece has arrived before the next one is sent: nothing is held for more."""
        client, at_server = begun(proxy, server)
        at_server.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        client.until(b"\r\n\r\n")
        for number in range(20):
            piece = b"1\r\n%c\r\n" % (ord("a") + number)
            at_server.send(piece)
            assert client.until(piece) == piece
        client.close()

    def test_of_requests_that_do_not_wait_are_answered_in_order(
        self, proxy: MeterAtWork, server: Server
    ) -> None:
        client = proxy.client()
        client.send(request(b"one") + request(b"two"))
        at_server = server.accept()
        for body in (b"one", b"two"):
            assert at_server.until(body).endswith(body)
            assert at_server.seen == b""  # the next one comes when this is answered
            at_server.send(answer(body))
            assert client.until(body) == answer(body)
        client.close()

    def test_of_a_body_go_on_behind_its_answer(self, proxy: MeterAtWork, server: Server) -> None:
        """A server may answer before it has read all. What follows the rest is the next request."""
        large, rest = request(bytes(range(256)) * 40), 5000
        client = proxy.client()
        client.send(large[:-rest])
        at_server = server.accept()
        at_server.take(len(as_sent(server.port, large)) - rest)
        early = answer(b"too large").replace(b"200 OK", b"413 No")
        at_server.send(early)
        assert client.until(b"large") == early
        client.send(large[-rest:-7])
        client.send(large[-7:] + request(b"two"))
        assert at_server.take(rest) == large[-rest:]
        assert at_server.until(b"two") == as_sent(server.port, request(b"two"))
        at_server.send(answer(b"and two"))
        assert client.until(b"two") == answer(b"and two")
        client.close()
        lines = proxy.ends()
        assert [(line["status"], line["ended"], line["sent"]) for line in lines] == [
            (413, "whole", 256 * 40),
            (200, "whole", 3),
        ]

    def test_of_a_body_go_on_behind_the_last_answer(
        self, proxy: MeterAtWork, server: Server
    ) -> None:
        """The server says that it hangs up: what comes until then is no head of a request."""
        large = request(bytes(5000))
        client = proxy.client()
        client.send(large[:-100])
        at_server = server.accept()
        at_server.take(len(as_sent(server.port, large)) - 100)
        early = answer(b"too large", b"Connection: close\r\n")
        at_server.send(early)
        assert client.until(b"large") == early
        client.send(large[-100:])
        assert at_server.take(100) == large[-100:]
        at_server.close()
        assert client.rest() == b""
        (line,) = proxy.ends()
        assert line["ended"] == "whole"

    def test_of_another_protocol_pass_both_ways(self, proxy: MeterAtWork, server: Server) -> None:
        asks = HEAD % SECRET.encode() + b"Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
        client, at_server = begun(proxy, server, asks)
        accepts = b"HTTP/1.1 101 OK\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
        at_server.send(accepts)
        assert client.until(accepts) == accepts
        client.send(b"\x81\x00")
        assert at_server.until(b"\x81\x00") == b"\x81\x00"
        at_server.send(b"\x81\x01a")
        assert client.until(b"a") == b"\x81\x01a"
        client.close()
        assert at_server.rest() == b""
        (line,) = proxy.ends()
        assert line["status"] == 101
        assert "WebSocket" in line["why"]


class TestEnds:
    def test_a_server_that_closes_an_idle_connection_closes_the_clients(
        self, proxy: MeterAtWork, server: Server
    ) -> None:
        client, at_server = begun(proxy, server)
        at_server.send(answer(b"ok"))
        client.until(b"ok")
        at_server.close()
        assert client.rest() == b""

    def test_an_answer_that_is_cut_is_cut(self, proxy: MeterAtWork, server: Server) -> None:
        start = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
        part = STREAM.body[: STREAM.body.index(b"event: message_delta")]
        for data in (
            start + b"Transfer-Encoding: chunked\r\n\r\n" + chunked(part)[:-5],
            start + b"Connection: close\r\n\r\n" + part,  # of unknown length: no event ends it
        ):
            client, at_server = begun(proxy, server)
            at_server.send(data)
            at_server.close()
            assert client.rest() == data
        lines = proxy.ends()
        assert [line["ended"] for line in lines] == ["cut", "cut"]
        assert lines[0]["tokens"] == counts() | {"output": 1}

    def test_a_reset_is_a_reset(self, proxy: MeterAtWork, server: Server) -> None:
        client, at_server = begun(proxy, server)
        at_server.reset()
        with pytest.raises(ConnectionResetError):
            client.rest()
        (line,) = proxy.ends()
        assert line["ended"] == "cut"

    def test_a_client_that_leaves_is_not_answered_further(
        self, proxy: MeterAtWork, server: Server
    ) -> None:
        client, at_server = begun(proxy, server)
        at_server.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n")
        client.until(b"a")
        client.close()
        assert at_server.rest() == b""
        (line,) = proxy.ends()
        assert line["ended"] == "left"

    def test_a_client_that_leaves_in_its_body_after_the_answer_has_all(
        self, proxy: MeterAtWork, server: Server
    ) -> None:
        large = request(bytes(5000))
        client = proxy.client()
        client.send(large[:-100])
        at_server = server.accept()
        at_server.take(len(as_sent(server.port, large)) - 100)
        at_server.send(answer(b"too large"))
        client.until(b"large")
        client.close()
        assert at_server.rest() == b""
        (line,) = proxy.ends()
        assert line["ended"] == "whole"

    def test_a_client_that_leaves_after_the_last_event_has_all(
        self, proxy: MeterAtWork, server: Server
    ) -> None:
        client, at_server = begun(proxy, server)
        kind = b"Content-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
        at_server.send(b"HTTP/1.1 200 OK\r\n" + kind + chunked(STREAM.body)[:-5])
        client.until(b"message_stop")
        client.until(b"\n\n")
        client.close()
        assert at_server.rest() == b""
        (line,) = proxy.ends()
        assert line["ended"] == "whole"
        assert line["tokens"] == counts()

    def test_a_server_that_is_not_there_is_said(self, tmp_path: Path, server: Server) -> None:
        server.close()
        with meter(tmp_path, server) as proxy:
            client = proxy.client()
            client.send(request())
            said = client.rest()
            assert said.startswith(b"HTTP/1.1 502 ")
            assert json.loads(said.partition(b"\r\n\r\n")[2])["error"]["type"] == "siding_proxy"
            (line,) = proxy.ends()
            assert line["ended"] == "unreachable"

    def test_a_killed_proxy_is_refused(self, proxy: MeterAtWork, server: Server) -> None:
        client, _at_server = begun(proxy, server)
        proxy.process.kill()
        proxy.process.wait(PATIENCE_S)
        with suppress(ConnectionResetError):
            assert client.rest() == b""
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", proxy.port))


class TestWho:
    @pytest.mark.parametrize("secret", ["", "x", SECRET[:-1], SECRET + "x", SECRET.upper()])
    def test_does_not_know_the_secret_gets_nothing(
        self, proxy: MeterAtWork, server: Server, secret: str
    ) -> None:
        client = proxy.client()
        client.send(request(secret=secret))
        assert client.rest().startswith(b"HTTP/1.1 404 ")
        assert server.is_alone()
        assert proxy.ends() == []


class TestCounts:
    def test_of_retries_and_errors(self, proxy: MeterAtWork, server: Server) -> None:
        client, at_server = begun(proxy, server)
        body = (
            b'{"type": "error", "error": {"type": "overloaded_error", "message": "sk-of-a-test"}}'
        )
        kind = b"Content-Type: application/json\r\n"
        over = answer(body, kind).replace(b"200 OK", b"529 No")
        good = answer(ANSWERS[2].body, kind)
        for count, said in enumerate((over, over, good, good)):
            if count:
                client.send(request())
                at_server.until(BODY)
            at_server.send(said)
            client.until(said[-20:])
        client.send(request().replace(b"accept-encoding: br", b"x-stainless-retry-count: 1"))
        at_server.until(BODY)
        at_server.send(good)
        client.until(good[-20:])
        client.close()
        lines = proxy.ends()
        assert [line["status"] for line in lines] == [529, 529, 200, 200, 200]
        assert [line.get("retry", False) for line in lines] == [False, True, True, False, True]
        assert [line.get("error") for line in lines[:2]] == ["overloaded_error"] * 2
        assert [line["model"] for line in lines] == ["a-model"] * 2 + ["claude-opus-5"] * 3
        assert "tokens" not in lines[0]
        assert {line["sent"] for line in lines} == {len(BODY)}

    def test_hold_nothing_that_a_person_keeps_secret(
        self, proxy: MeterAtWork, server: Server
    ) -> None:
        client, at_server = begun(proxy, server)
        at_server.send(answer(b"ok", b"Set-Cookie: sk-of-a-test\r\n"))
        client.until(b"ok")
        client.close()
        lines = proxy.ends()
        assert len(lines) == 1
        assert lines[0]["path"] == "/v1/messages"
        said = proxy.journal.read_text()
        assert "sk-of-a-test" not in said
        assert SECRET not in said


def counts() -> dict[str, Any]:
    return {name: count for name, count in STREAM.tokens._asdict().items() if count}
