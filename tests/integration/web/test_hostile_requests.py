"""Requests that mean harm, one by one, byte by byte, as a browser or a process would send them.

Attackers: any page in the person's browser (cross-site requests, DNS rebinding), other users and
servers of the machine, a sender that is slow, huge or no HTTP at all.
"""

import json
import re
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Thread
from types import SimpleNamespace
from typing import NamedTuple, Protocol

import pytest

from dashboards import Dashboard
from sandbox import Sandbox

READ = "/api/v1/tasks"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class Answer(NamedTuple):
    """What came back; `status` 0 is a closed connection."""

    status: int
    headers: dict[str, str]
    body: bytes


@pytest.fixture(scope="module")
def dashboard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dashboard]:
    sandbox = Sandbox(tmp_path_factory.mktemp("web"))
    sandbox.siding("task", "start", "one")
    with Dashboard(sandbox) as running:
        yield running


@pytest.fixture(scope="module")
def write(dashboard: Dashboard) -> str:
    """A path that changes something."""
    (task,) = dashboard.json(READ)["tasks"]
    return f"{READ}/{task['id']}/switch"


class Listening(Protocol):
    """Whatever answers on a port."""

    @property
    def port(self) -> int: ...


def send(dashboard: Listening, raw: bytes, *, seconds: float = 8) -> Answer:
    """Send bytes; return the one answer."""
    out = b""
    with socket.create_connection(("127.0.0.1", dashboard.port), seconds) as connection:
        try:
            connection.sendall(raw)
        except OSError:
            pass  # it has hung up already; what it said may still be there
        try:
            while data := connection.recv(65536):
                out += data
                head, end, body = out.partition(b"\r\n\r\n")
                length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
                whole = length and len(body) >= int(length.group(1))
                if end and (whole or raw.startswith(b"HEAD")):
                    break
        except OSError:
            pass
    return answer_in(out)


def answer_in(out: bytes) -> Answer:
    head, _, body = out.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    found = re.match(r"HTTP/1\.1 (\d{3})", first)
    headers = dict(line.lower().split(": ", 1) for line in lines if ": " in line)
    return Answer(int(found.group(1)) if found else 0, headers, body)


class Asking:
    """Writes requests that differ from a good one in exactly what a test names."""

    def __init__(self, dashboard: Dashboard) -> None:
        self.host = f"127.0.0.1:{dashboard.port}"
        self.key = f"Authorization: Bearer {dashboard.key}"

    def get(self, *more: str, path: str = READ, host: str | None = "", key: str = "") -> bytes:
        return self._request(f"GET {path} HTTP/1.1", more, host=host, key=key)

    def post(
        self,
        path: str,
        *more: str,
        host: str | None = "",
        key: str = "",
        kind: str | None = "application/json",
        body: bytes = b"{}",
    ) -> bytes:
        typed = [] if kind is None else [f"Content-Type: {kind}"]
        headers = [f"Content-Length: {len(body)}", *typed, *more]
        return self._request(f"POST {path} HTTP/1.1", headers, host=host, key=key) + body

    def _request(
        self, line: str, more: tuple[str, ...] | list[str], *, host: str | None, key: str
    ) -> bytes:
        lines = [line]
        if host is not None:
            lines.append(f"Host: {host or self.host}")
        if key != "none":
            lines.append(key or self.key)
        return "\r\n".join([*lines, *more, "", ""]).encode("latin-1")


@pytest.fixture(scope="module")
def asking(dashboard: Dashboard) -> Asking:
    return Asking(dashboard)


def assert_refused(answer: Answer, *statuses: int) -> None:
    assert answer.status in statuses, answer
    assert b"raceback" not in answer.body
    assert "access-control-allow-origin" not in answer.headers
    if answer.status:
        assert answer.headers["content-security-policy"] == POLICY


def test_the_control_good_requests_work(dashboard: Dashboard, asking: Asking, write: str) -> None:
    assert send(dashboard, asking.get()).status == 200
    own = f"Origin: http://{asking.host}"
    assert send(dashboard, asking.post(write, own, "Sec-Fetch-Site: same-origin")).status == 200
    for name in ("localhost", "[::1]"):
        assert send(dashboard, asking.get(host=f"{name}:{dashboard.port}")).status == 200


@pytest.mark.parametrize(
    "host",
    [
        None,
        "evil.example",
        "evil.example:{port}",
        "127.0.0.1.evil.example:{port}",
        "localhost.evil.example:{port}",
        "evil.example:{port}@127.0.0.1",
        "127.0.0.1:1",
        "127.0.0.1",
        "0.0.0.0:{port}",
        "localhost:{port}.evil.example",
        "[::1].evil.example",
        "127.0.0.1:{port}, evil.example",
        "LOCALHOST:{port}",
        "127.0.0.1:{port}.",
        "127.1:{port}",
        "2130706433:{port}",
        "[::ffff:127.0.0.1]:{port}",
        "a" * 5000,
    ],
)
def test_another_host_is_misdirected(
    dashboard: Dashboard, asking: Asking, write: str, host: str | None
) -> None:
    """DNS rebinding: the browser believes the attacker's name leads here, and says it."""
    named = None if host is None else host.format(port=dashboard.port)
    assert_refused(send(dashboard, asking.get(host=named)), 421)
    assert_refused(send(dashboard, asking.post(write, host=named)), 421)


def test_forwarded_hosts_change_nothing(dashboard: Dashboard, asking: Asking) -> None:
    for name in ("X-Forwarded-Host", "X-Original-Host", "Forwarded"):
        raw = asking.get(f"{name}: {asking.host}", host="evil.example")
        assert_refused(send(dashboard, raw), 421)


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "https://evil.example",
        "null",
        "http://127.0.0.1:1",
        "file://",
        "http://localhost.evil.example",
        "http://127.0.0.1:{port}.evil.example",
        "http://127.0.0.1:{port}/",
        "https://127.0.0.1:{port}",
        "HTTP://127.0.0.1:{port}",
        "chrome-extension://abc",
        "http://localhost:{port}",
        "",
    ],
)
def test_another_origin_is_refused_even_with_the_key(
    dashboard: Dashboard, asking: Asking, write: str, origin: str
) -> None:
    said = f"Origin: {origin.format(port=dashboard.port)}"
    assert_refused(send(dashboard, asking.post(write, said)), 403)
    assert_refused(send(dashboard, asking.get(said)), 403)
    assert_refused(send(dashboard, asking.get(said, path="/live?topics=project")), 403)
    assert_refused(send(dashboard, asking.get(said, path="/", key="none")), 403)


@pytest.mark.parametrize("site", ["cross-site", "same-site", "", "SAME-ORIGIN"])
def test_another_site_is_refused(
    dashboard: Dashboard, asking: Asking, write: str, site: str
) -> None:
    assert_refused(send(dashboard, asking.post(write, f"Sec-Fetch-Site: {site}")), 403)
    assert_refused(send(dashboard, asking.get(f"Sec-Fetch-Site: {site}", path="/")), 403)


def test_no_cors_no_preflight_no_websocket(
    dashboard: Dashboard, asking: Asking, write: str
) -> None:
    preflight = asking.get(
        "Origin: http://evil.example",
        "Access-Control-Request-Method: POST",
        "Access-Control-Request-Private-Network: true",
        path=write,
    ).replace(b"GET", b"OPTIONS")
    answer = send(dashboard, preflight)
    assert_refused(answer, 405)
    assert not [name for name in answer.headers if name.startswith("access-control")]
    upgrade = asking.get(
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        path="/live",
    )
    assert_refused(send(dashboard, upgrade), 400)


@pytest.mark.parametrize(
    "key",
    [
        "none",
        "Authorization: Bearer",
        "Authorization: Bearer ",
        "Authorization: Bearer null",
        "Authorization: bearer {key}",
        "Authorization: Bearer {key}x",
        "Authorization: Bearer {short}",
        "Authorization: Bearer  {key}",
        "Authorization: Basic {key}",
        "Authorization: {key}",
        "Authorization: Bearer {swapped}",
        "Cookie: key={key}",
        "X-Token: {key}",
    ],
)
def test_without_the_key_nothing_is_told(
    dashboard: Dashboard, asking: Asking, write: str, key: str
) -> None:
    said = key.format(key=dashboard.key, short=dashboard.key[:-1], swapped=dashboard.key.swapcase())
    for path in (READ, "/view/", "/live?topics=project", "/api/v1/openapi.json"):
        assert_refused(send(dashboard, asking.get(path=path, key=said)), 401)
    assert_refused(send(dashboard, asking.post(write, key=said)), 401)


def test_keys_that_are_no_text_and_keys_elsewhere(dashboard: Dashboard, asking: Asking) -> None:
    assert_refused(send(dashboard, asking.get(key="Authorization: Bearer \xe9\xe9")), 400)
    assert_refused(send(dashboard, asking.get(key="Authorization: Bearer \0")), 400)
    query = f"{READ}?token={dashboard.key}"
    assert_refused(send(dashboard, asking.get(path=query, key="none")), 401)
    assert_refused(send(dashboard, asking.get(asking.key, key="Authorization: Bearer x")), 400)


@pytest.mark.parametrize(
    "kind",
    [
        None,
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "text/plain; application/json",
        "application/json; charset=utf-8",
        "Application/JSON",
        "",
    ],
)
def test_a_write_is_json_and_nothing_else(
    dashboard: Dashboard, asking: Asking, write: str, kind: str | None
) -> None:
    assert_refused(send(dashboard, asking.post(write, kind=kind)), 415)


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "DELETE", "TRACE", "CONNECT"])
def test_a_write_is_a_post(dashboard: Dashboard, asking: Asking, write: str, method: str) -> None:
    raw = asking.get(path=write).replace(b"GET", method.encode(), 1)
    assert_refused(send(dashboard, raw), 405)
    for name in ("X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"):
        assert_refused(send(dashboard, asking.get(f"{name}: POST", path=write)), 400)


@pytest.mark.parametrize(
    "path",
    [
        "/../../../../etc/passwd",
        "/..%2f..%2f..%2fetc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "//etc/passwd",
        "/static/..%5c..%5cetc/passwd",
        "/static/..\\..\\etc/passwd",
        "/%00",
        "/static/%252e%252e/etc/passwd",
        "/./.git/config",
        "/static/../siding.js",
        "/\xff\xfe",
        "*",
        "/a b",
        "/a\tb",
        "http://evil.example/api/v1/tasks",
        "http://127.0.0.1/api/v1/tasks",
        "evil.example:80",
        "/api/v1/tasks%0d%0aSet-Cookie:x=1",
        "/api/v1/tasks;x=1",
        "/api/v1/tasks?a=../../x%00",
        "/api/v1/tasks#x",
        "",
    ],
)
def test_odd_paths_are_refused(dashboard: Dashboard, asking: Asking, path: str) -> None:
    assert_refused(send(dashboard, asking.get(path=path)), 400)


@pytest.mark.parametrize(
    "path",
    [
        "/static/nothing.js",
        "/static/shell.html",
        "/etc/passwd",
        "/.git/config",
        "/view/x",
        "/api/v1/tasks/zzzzzzzz",
        "/api/v1/tasks/.-.",
        "/view/tasks/nothere1/steps/1",
        "/api/v1/sessions/x",
    ],
)
def test_what_is_not_there_is_not_found(dashboard: Dashboard, asking: Asking, path: str) -> None:
    assert_refused(send(dashboard, asking.get(path=path)), 404)


def test_the_protocol_is_http_1_1_and_nothing_odd(
    dashboard: Dashboard, asking: Asking, write: str
) -> None:
    good = asking.get()
    cases = {
        "chunked": asking.post(write, "Transfer-Encoding: chunked"),
        "two lengths": asking.post(write, "Content-Length: 9999"),
        "negative length": asking.get("Content-Length: -5", path=write).replace(b"GET", b"POST"),
        "hex length": asking.get("Content-Length: 0x2", path=write).replace(b"GET", b"POST"),
        "two Hosts": asking.get(f"Host: {asking.host}"),
        "two Origins": asking.get(f"Origin: http://{asking.host}", f"Origin: http://{asking.host}"),
        "folded header": asking.get("X: a", " b"),
        "space before colon": asking.get("X : a"),
        "no colon": asking.get("nonsense"),
        "control byte": asking.get("X: a\x01b"),
        "bare LF": good.replace(b"\r\n", b"\n"),
        "one bare LF": good.replace(b"\r\n", b"\n", 1),
        "bare CR": good.replace(b"\r\nHost", b"\rHost"),
        "HTTP/1.0": good.replace(b"HTTP/1.1", b"HTTP/1.0"),
        "HTTP/2.0": good.replace(b"HTTP/1.1", b"HTTP/2.0"),
        "HTTP/0.9": b"GET /\r\n\r\n",
        "HTTP/2 preface": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200),
        "NUL": b"\0" * 100,
        "body of a GET": asking.get("Content-Length: 2") + b"{}",
        "expect": asking.post(write, "Expect: 100-continue"),
        "lower-case method": good.replace(b"GET", b"get"),
        "leading CRLF": b"\r\n" + good,
    }
    for name, raw in cases.items():
        answer = send(dashboard, raw)
        assert answer.status == 400, (name, answer)
        assert_refused(answer, 400)
    no_length = asking.get("Content-Type: application/json", path=write).replace(b"GET", b"POST")
    assert_refused(send(dashboard, no_length), 411)


def test_limits_of_head_and_body(dashboard: Dashboard, asking: Asking, write: str) -> None:
    assert_refused(send(dashboard, asking.get(*[f"X-{n}: 1" for n in range(5000)])), 431)
    assert_refused(send(dashboard, asking.get(*[f"X-{n}: 1" for n in range(65)])), 431)
    endless = f"GET / HTTP/1.1\r\nHost: {asking.host}\r\nX: ".encode() + b"a" * 200_000
    assert_refused(send(dashboard, endless), 431)
    assert_refused(send(dashboard, asking.get(path="/" + "a" * 20_000)), 431)
    huge = asking.get("Content-Length: 99999999999", path=write).replace(b"GET", b"POST")
    assert_refused(send(dashboard, huge + b"{"), 413)
    over = asking.post(write, body=b'{"x": "' + b"y" * (1 << 20) + b'"}')
    assert_refused(send(dashboard, over), 413)


@pytest.mark.parametrize(
    "body",
    [
        b"{" * 50_000,
        b"[" * 100_000 + b"]" * 100_000,
        b"",
        b"[]",
        b"1",
        b"null",
        b"\xff\xfe",
        b'{"a": 1}',
        b'{"__proto__": {}}',
        b'{"a":' * 5000 + b"1" + b"}" * 5000,
    ],
)
def test_bodies_that_are_not_asked_for(
    dashboard: Dashboard, asking: Asking, write: str, body: bytes
) -> None:
    assert_refused(send(dashboard, asking.post(write, body=body)), 400)


def test_a_head_and_a_body_have_to_come_in_time(
    dashboard: Dashboard, asking: Asking, write: str
) -> None:
    cut_off = [asking.get()[:-2], asking.post(write)[:-1]]
    with ThreadPoolExecutor() as threads:
        for answer in threads.map(lambda raw: send(dashboard, raw, seconds=20), cut_off):
            assert_refused(answer, 408)


def is_over(connection: socket.socket) -> bool:
    """Return whether the other side has ended the connection without an answer.

    On a busy machine it may have been there so long that it was told so before.
    """
    connection.settimeout(5)
    try:
        return connection.recv(12) in (b"", b"HTTP/1.1 408")
    except ConnectionError:
        return True


def test_slow_strangers_keep_nobody_out(dashboard: Dashboard, asking: Asking) -> None:
    held = []
    try:
        for _ in range(80):
            connection = socket.create_connection(("127.0.0.1", dashboard.port), 5)
            connection.sendall(b"GET / HTTP/1.1\r\nX: ")
            held.append(connection)
        time.sleep(0.3)  # as long as a burst of pages is given
        for _ in range(3):
            assert send(dashboard, asking.get()).status == 200
        assert is_over(held[0])  # the first ones had to make room
    finally:
        for connection in held:
            connection.close()


def test_two_requests_on_one_connection_are_both_judged(
    dashboard: Dashboard, asking: Asking
) -> None:
    with socket.create_connection(("127.0.0.1", dashboard.port), 10) as connection:
        connection.sendall(asking.get(path="/static/icon.svg", key="none"))
        first = b""
        while b"</svg>" not in first:
            first += connection.recv(65536)
        connection.sendall(asking.get(host="evil.example"))
        second = b""
        while data := connection.recv(65536):
            second += data
    assert answer_in(first).status == 200
    assert answer_in(second).status == 421


def test_what_every_answer_carries(dashboard: Dashboard, asking: Asking) -> None:
    for path in ("/", READ, "/static/siding.js", "/view/", "/nothing", "/api/v1/nothing"):
        headers = send(dashboard, asking.get(path=path)).headers
        assert headers["content-security-policy"] == POLICY
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-opener-policy"] == "same-origin"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert headers["cache-control"] == "no-store"
        assert headers["server"] == "siding"
        assert "set-cookie" not in headers


def test_a_server_that_lets_everything_in_would_be_noticed(asking: Asking, write: str) -> None:
    """What is asserted here can fail: a server that answers anything with yes fails all of it."""
    yes = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
    with socket.create_server(("127.0.0.1", 0)) as listening:
        open_door = SimpleNamespace(port=listening.getsockname()[1])

        def answer_all() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                with connection:
                    connection.recv(65536)
                    connection.sendall(yes)

        Thread(target=answer_all, daemon=True).start()
        for raw in (
            asking.get(host="evil.example"),
            asking.get("Origin: http://evil.example"),
            asking.get(key="none"),
            asking.get(path="/../../etc/passwd"),
            asking.post(write, kind="text/plain"),
            asking.post(write, "Transfer-Encoding: chunked"),
        ):
            with pytest.raises(AssertionError):
                assert_refused(send(open_door, raw), 400, 401, 403, 415, 421)
        listening.shutdown(socket.SHUT_RDWR)


def test_only_the_loopback_is_bound(dashboard: Dashboard) -> None:
    probe = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        probe.connect(("192.0.2.1", 9))
        own = probe.getsockname()[0]
    except OSError:
        pytest.skip("this machine has no other address")
    finally:
        probe.close()
    if own.startswith("127."):
        pytest.skip("this machine has no other address")
    with pytest.raises(OSError, match="refused"):
        socket.create_connection((own, dashboard.port), 2)


def test_a_ticket_is_good_once(dashboard: Dashboard, asking: Asking) -> None:
    from siding.record.place.dashboard import page_url
    from siding.record.place.project import require_project
    from siding.record.place.wiring import open_app

    sandbox = dashboard.sandbox
    project = require_project(open_app(env=sandbox.env, cwd=sandbox.repo))
    address = page_url(project, "/inbox", with_key=True)
    assert address is not None
    assert dashboard.key not in address
    assert dashboard.key not in str(page_url(project, "/inbox"))
    ticket = address.partition("#ticket=")[2]
    raw = asking.post("/key", key="none", body=json.dumps({"ticket": ticket}).encode())
    answer = send(dashboard, raw)
    assert json.loads(answer.body) == {"key": dashboard.key}
    assert_refused(send(dashboard, raw), 403)
    late = f"{int(time.time()) - 90}." + ticket.partition(".")[2]
    for bad in (late, "", "x", "1.2.3", ticket[:-1], "\u00e9.\u00e9.\u00e9"):
        body = json.dumps({"ticket": bad}).encode()
        assert_refused(send(dashboard, asking.post("/key", key="none", body=body)), 403)
    other = asking.post(
        "/key",
        "Origin: http://evil.example",
        key="none",
        body=json.dumps({"ticket": ticket}).encode(),
    )
    assert_refused(send(dashboard, other), 403)
