"""The proxy for a list of hosts: what is listed is reached, every way around the list is closed.

Names lead where a test says. Servers are on loopback, so the list has its network as well, but for
the tests of names that lead there without it.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from integration.wire.world import EgressAtWork, Server, Talk
from siding.sandbox.wire import egress
from siding.sandbox.wire.heads import LONGEST_HEAD
from unit.sandbox.wire.test_hello import greeting, in_records

NAME, OTHER = "api.example.org", "other.example.org"
NAMES = {
    NAME: ["127.0.0.1"],
    OTHER: ["127.0.0.1"],
    "rebound.example.org": ["10.9.9.9", "192.168.1.1", "::ffff:10.0.0.1"],
    "mixed.example.org": ["10.9.9.9", "127.0.0.1"],
}


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as made:
        yield made


@pytest.fixture
def proxy(tmp_path: Path, server: Server) -> Iterator[EgressAtWork]:
    names = [f"{name}:{server.port}" for name in NAMES]
    at_work = EgressAtWork(tmp_path, (*names, *NAMES, "127.0.0.0/8"), NAMES)
    yield at_work
    at_work.close()


def get(host: str, target: str, *more: str) -> bytes:
    return "\r\n".join([f"GET {target} HTTP/1.1", f"Host: {host}", *more, "", ""]).encode()


def answered(at_server: Talk) -> str:
    """Answer the next request of a server; return its head."""
    head = at_server.until(b"\r\n\r\n").decode()
    at_server.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    return head


def refused(proxy: EgressAtWork) -> list[tuple[str, int, str]]:
    lines = [line for line in proxy.lines() if line["kind"] == "refused"]
    return [(line["host"], line.get("port", 0), line["why"]) for line in lines]


class TestAllowed:
    def test_tls_passes_untouched(self, proxy: EgressAtWork, server: Server) -> None:
        for hello in (greeting(NAME), in_records(greeting(NAME), 100), greeting(NAME.upper())):
            talk = proxy.tunnel(f"{NAME}:{server.port}")
            at_server = server.accept()
            talk.send(hello[:50])
            talk.send(hello[50:])
            assert at_server.take(len(hello)) == hello
            at_server.send(b"\x16\x03\x03whatever")
            assert talk.until(b"whatever") == b"\x16\x03\x03whatever"
            talk.close()
            assert at_server.rest() == b""
        assert refused(proxy) == []

    def test_what_speaks_first_at_a_listed_port_is_heard(
        self, proxy: EgressAtWork, server: Server
    ) -> None:
        talk = proxy.tunnel(f"{NAME}:{server.port}")
        at_server = server.accept()
        at_server.send(b"SSH-2.0-server\r\n")
        assert talk.until(b"\n") == b"SSH-2.0-server\r\n"
        talk.send(b"SSH-2.0-client\r\n")
        assert at_server.until(b"\n") == b"SSH-2.0-client\r\n"

    def test_plain_requests_go_to_the_host_of_each(
        self, proxy: EgressAtWork, server: Server
    ) -> None:
        talk, seen = proxy.client(), []
        for host in (NAME, NAME, OTHER):
            at = f"{host}:{server.port}"
            talk.send(get(at, f"http://{at}/a?b=1", "Proxy-Authorization: Basic x", "X-A: 1"))
            if host not in seen:
                at_server = server.accept()
            seen.append(host)
            assert answered(at_server) == f"GET /a?b=1 HTTP/1.1\r\nHost: {at}\r\nX-A: 1\r\n\r\n"
            assert talk.until(b"ok").endswith(b"\r\n\r\nok")
        assert proxy.asked == [NAME, OTHER]

    def test_a_body_goes_on_behind_its_answer(self, proxy: EgressAtWork, server: Server) -> None:
        """A server may answer before it has read all. What follows the rest is the next request."""
        at = f"{NAME}:{server.port}"
        talk = proxy.client()
        head = get(at, f"http://{at}/large", "Content-Length: 1000").replace(b"GET", b"POST", 1)
        talk.send(head + bytes(400))
        at_server = server.accept()
        assert answered(at_server).startswith("POST /large ")
        at_server.take(400)
        assert talk.until(b"ok").endswith(b"\r\n\r\nok")
        talk.send(bytes(599))
        talk.send(b"x" + get(at, f"http://{at}/next"))
        assert at_server.take(600) == bytes(599) + b"x"
        assert answered(at_server).startswith("GET /next ")
        assert talk.until(b"ok").endswith(b"\r\n\r\nok")
        talk.close()
        assert at_server.rest() == b""
        assert [line["ended"] for line in proxy.lines()] == ["whole", "whole"]

    def test_an_address_that_is_listed_is_reached(
        self, tmp_path: Path, proxy: EgressAtWork, server: Server
    ) -> None:
        other = EgressAtWork(tmp_path, (f"127.0.0.1:{server.port}",), {})
        try:
            talk = other.tunnel(f"127.0.0.1:{server.port}")
            talk.send(b"hello")
            assert server.accept().until(b"hello") == b"hello"
        finally:
            other.close()

    def test_of_several_addresses_only_the_good_ones_are_tried(
        self, proxy: EgressAtWork, server: Server
    ) -> None:
        proxy.tunnel(f"mixed.example.org:{server.port}")
        server.accept()

    def test_a_host_that_does_not_answer_is_no_refusal(self, proxy: EgressAtWork) -> None:
        said = proxy.asks(
            b"CONNECT other.example.org:443 HTTP/1.1\r\nHost: other.example.org\r\n\r\n"
        )
        assert b" 502 " in said
        assert refused(proxy) == []
        assert proxy.lines()[-1]["ended"] == "unreachable"


class TestRefused:
    @pytest.mark.parametrize(
        ("host", "port"),
        [
            ("evil.example", 443),
            ("api.example.org.evil.example", 443),
            (NAME, 22),
            ("93.184.216.34", 443),
            ("10.9.9.9", 443),
            ("[::1]", 443),
            ("[2606:2800:220:1::1]", 443),
            ("2130706433", 80),
            ("0x7f.1", 80),
            ("localhost", 80),
            ("metadata.google.internal", 80),
        ],
    )
    def test_a_host_that_is_not_listed(self, proxy: EgressAtWork, host: str, port: int) -> None:
        at = f"{host}:{port}"
        assert b" 403 " in proxy.asks(f"CONNECT {at} HTTP/1.1\r\nHost: {at}\r\n\r\n".encode())
        assert b" 403 " in proxy.asks(get(at, f"http://{at}/"))
        bare = host.strip("[]")
        assert refused(proxy) == [(bare, port, "not listed")] * 2
        assert proxy.asked == []  # the name does not leave either

    def test_a_name_that_leads_into_a_private_network(
        self, proxy: EgressAtWork, server: Server
    ) -> None:
        at = "rebound.example.org:443"
        assert b" 403 " in proxy.asks(f"CONNECT {at} HTTP/1.1\r\nHost: {at}\r\n\r\n".encode())
        ((host, port, why),) = refused(proxy)
        assert (host, port) == ("rebound.example.org", 443)
        assert "10.9.9.9" in why

    def test_tls_for_another_name(self, proxy: EgressAtWork, server: Server) -> None:
        for hello in (greeting("evil.example"), greeting(None)):
            talk = proxy.tunnel(f"{NAME}:{server.port}")
            at_server = server.accept()
            talk.send(hello)
            with pytest.raises(ConnectionResetError):
                talk.rest()
            assert at_server.rest() == b""  # not a byte of it has arrived
        why = f"TLS for another name in a tunnel to {NAME}"
        port = server.port
        assert refused(proxy) == [("evil.example", port, why), ("(no name)", port, why)]

    def test_what_is_no_tls_at_the_port_of_tls(
        self, proxy: EgressAtWork, server: Server, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(egress, "TLS_PORT", server.port)
        talk = proxy.tunnel(f"{NAME}:{server.port}")
        at_server = server.accept()
        talk.send(get("evil.example", "/"))
        with pytest.raises(ConnectionResetError):
            talk.rest()
        assert at_server.rest() == b""
        assert refused(proxy) == [(NAME, server.port, "on port 443 only TLS is spoken")]

    def test_another_host_in_the_head(self, proxy: EgressAtWork, server: Server) -> None:
        at = f"{NAME}:{server.port}"
        for request in (
            get("evil.example", f"http://{at}/"),
            get(NAME, f"http://{at}/"),
            f"CONNECT {at} HTTP/1.1\r\nHost: evil.example\r\n\r\n".encode(),
        ):
            assert b" 403 " in proxy.asks(request)
        assert [host for host, _port, _why in refused(proxy)] == [
            "evil.example",
            NAME,
            "evil.example",
        ]
        assert server.is_alone()

    def test_another_host_in_a_later_request(self, proxy: EgressAtWork, server: Server) -> None:
        at = f"{NAME}:{server.port}"
        talk = proxy.client()
        talk.send(get(at, f"http://{at}/") + get("evil.example", "http://evil.example/"))
        at_server = server.accept()
        answered(at_server)
        assert b" 403 " in talk.rest()
        assert at_server.rest() == b""

    def test_another_host_in_a_tunnel_for_plain_requests(
        self, proxy: EgressAtWork, server: Server, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(egress, "HTTP_PORT", server.port)
        talk = proxy.tunnel(f"{NAME}:{server.port}")
        at_server = server.accept()
        talk.send(get(NAME, "/"))
        answered(at_server)
        talk.until(b"ok")
        talk.send(get("evil.example", "/"))
        assert b" 403 " in talk.rest()
        assert at_server.rest() == b""
        assert [host for host, _port, _why in refused(proxy)] == ["evil.example"]

    @pytest.mark.parametrize(
        "more",
        [
            ("Content-Length: 5", "Content-Length: 60"),
            ("Content-Length: 5", "Transfer-Encoding: chunked"),
            ("Transfer-Encoding: chunked, identity",),
            ("Content-Length : 5",),
            ("X: 1\r\n Host: evil.example",),
            ("X: 1\nHost: evil.example",),
            ("Host: evil.example",),
        ],
    )
    def test_a_request_that_can_be_read_in_two_ways(
        self, proxy: EgressAtWork, server: Server, more: tuple[str, ...]
    ) -> None:
        at = f"{NAME}:{server.port}"
        said = proxy.asks(get(at, f"http://{at}/", *more))
        assert said.split()[1] in (b"400", b"403", b"501")
        assert server.is_alone()

    @pytest.mark.parametrize(
        "request_line",
        [
            "GET / HTTP/1.1",
            "GET https://api.example.org/ HTTP/1.1",
            "GET ftp://api.example.org/ HTTP/1.1",
            "GET http://user@api.example.org/ HTTP/1.1",
            "CONNECT api.example.org:443/ HTTP/1.1",
            "CONNECT api.example.org:0 HTTP/1.1",
            "CONNECT api.example.org:x HTTP/1.1",
            "PRI * HTTP/2.0",
        ],
    )
    def test_what_is_no_request_for_a_proxy(self, proxy: EgressAtWork, request_line: str) -> None:
        said = proxy.asks(f"{request_line}\r\nHost: api.example.org\r\n\r\n".encode())
        assert said.split()[1] in (b"400", b"403", b"505")

    def test_a_protocol_in_which_other_hosts_could_be_asked_for(
        self, proxy: EgressAtWork, server: Server
    ) -> None:
        at = f"{NAME}:{server.port}"
        more = ("Connection: Upgrade, HTTP2-Settings", "HTTP2-Settings: AAMAAABk")
        assert b" 400 " in proxy.asks(get(at, f"http://{at}/", "Upgrade: h2c", *more))
        assert server.is_alone()

    def test_what_follows_an_answer_whose_end_nobody_knows(
        self, proxy: EgressAtWork, server: Server
    ) -> None:
        at = f"{NAME}:{server.port}"
        talk = proxy.client()
        talk.send(get(at, f"http://{at}/"))
        at_server = server.accept()
        at_server.until(b"\r\n\r\n")
        at_server.send(b"ICY 200 OK\r\n\r\n")
        assert talk.until(b"\r\n\r\n") == b"ICY 200 OK\r\n\r\n"
        talk.send(get("evil.example", "/"))
        at_server.sock.settimeout(0.3)
        with pytest.raises(TimeoutError):
            at_server.rest()

    def test_a_head_without_end(self, proxy: EgressAtWork) -> None:
        talk = proxy.client()
        talk.send(b"GET http://api.example.org/ HTTP/1.1\r\nX: " + b"x" * LONGEST_HEAD)
        assert b" 431 " in talk.until(b"\r\n")

    def test_a_head_that_does_not_come(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(egress, "PATIENCE_S", 0.2)
        slow = EgressAtWork(tmp_path, ("127.0.0.1",), {})
        try:
            talk = slow.client()
            talk.send(b"GET http://127.0.0.1/ HT")
            with pytest.raises(ConnectionResetError):
                talk.rest()
        finally:
            slow.close()
