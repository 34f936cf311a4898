"""The address that is served: over TLS, to paired devices, and to nobody else at all."""

import json
import re
import socket
import ssl
import stat
import subprocess
import time
from pathlib import Path

import pytest

from dashboards import Dashboard
from devices import Address, Device, on_loopback, reasons, refusal
from integration.broker.inside import until
from integration.web.test_hostile_requests import POLICY
from sandbox import SIDING, Sandbox

from .conftest import YES, Served, free_port

CONTENT = (
    "/api/v1/project",
    "/api/v1/tasks",
    "/api/v1/inbox",
    "/api/v1/runs",
    "/api/v1/openapi.json",
    "/view/",
    "/view/inbox",
    "/live?topics=project",
)
PAGES = ("/", "/inbox", "/decisions", "/tasks/abcdefgh", "/pair")


def raw(served: Served, request: bytes, *, seconds: float = 10) -> bytes:
    """Send bytes over TLS; return what came back."""
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    out = b""
    with (
        socket.create_connection(("127.0.0.1", served.address.port), seconds) as plain,
        trusting.wrap_socket(plain) as connection,
    ):
        connection.sendall(request)
        try:
            while data := connection.recv(65536):
                out += data
        except OSError:
            pass
    return out


def test_a_stranger_sees_nothing_of_the_project(served: Served) -> None:
    stranger = served.device()
    task = served.gate["task_id"]
    secrets = (b"repo", b"release", task.encode(), str(served.sandbox.repo).encode())
    for path in CONTENT:
        assert stranger.get(path)[0] == 401
    pages = {stranger.get(path)[1] for path in PAGES}
    assert len(pages) == 1  # the same page, wherever it was asked for
    (page,) = pages
    assert b"Pair this browser" in page
    assert not any(each in page for each in secrets)
    assert served.dashboard.key.encode() not in page
    assert stranger.post("/key", {"ticket": "1.2.3"})[0] == 401
    assert stranger.post(served.answer, YES)[0] == 401
    for headers in (
        {"Authorization": f"Bearer {served.dashboard.key}"},  # good on the loopback only
        {"Authorization": "Bearer x", "Cookie": "__Host-siding=x"},
        {"Cookie": "__Host-siding="},
    ):
        stranger.headers = headers
        assert stranger.get("/api/v1/tasks")[0] == 401
    assert served.is_shut()


def test_a_device_signs_in_and_answers_a_gate(served: Served) -> None:
    tablet = served.device().pair(served.sandbox, "tablet").sign_in()
    assert tablet.get("/api/v1/tasks")[0] == 200
    assert b"release" in tablet.get("/view/")[1]
    assert refusal(tablet.post(served.answer, YES)) == "this needs the device's signature"
    assert refusal(tablet.post("/api/v1/tasks", {"name": "x"})) == "a device may not do this"
    assert served.is_shut()
    status, found = tablet.signed(served.answer, YES)
    assert (status, found["via"], found["device"]) == (200, "device", "tablet"), found
    assert reasons(served.sandbox) == ["unsigned", "not for devices"]


def test_an_ordinary_question_wants_the_signature_as_well(served: Served) -> None:
    tablet = served.device().pair(served.sandbox).sign_in()
    question = {"task": "t", "source": "s", "items": [{"id": 1, "title": "?", "kind": "text"}]}
    asked = served.sandbox.siding(
        "decide", json.dumps(question), "--no-wait", cwd=served.sandbox.repo
    )
    path = f"/api/v1/decisions/{asked.stdout.decode().strip()}/answer"
    body = {"decisions": [{"id": 1, "chosen": "x"}]}
    refusal(tablet.post(path, body))
    assert tablet.signed(path, body)[0] == 200


def test_cookie_and_key_are_needed_and_of_one_session(served: Served) -> None:
    first = served.device().pair(served.sandbox, "first").sign_in()
    second = served.device().pair(served.sandbox, "second").sign_in()
    good = dict(first.headers)
    for name in good:
        first.headers = {name: good[name]}
        assert first.get("/api/v1/tasks")[0] == 401
        first.headers = {**good, name: second.headers[name]}
        assert first.get("/api/v1/tasks")[0] == 401
    first.headers = good
    assert first.get("/api/v1/tasks")[0] == 200
    # The session of one device does not carry the signature of another.
    second.headers = good
    assert "for another device" in refusal(second.signed(served.answer, YES))
    assert served.is_shut()


def test_the_cookie_stays_where_it_belongs(served: Served) -> None:
    tablet = served.device().pair(served.sandbox)
    body = b"{}"
    proof = tablet.proof("/device/sign-in", body, tablet.challenge())
    answer, said = served.address.send("POST", "/device/sign-in", body, {"Siding-Proof": proof})
    cookie = answer.getheader("set-cookie") or ""
    assert re.match(r"__Host-siding=[\w-]{43};", cookie)
    assert {"HttpOnly", "Secure", "SameSite=strict", "Path=/"} <= set(cookie.split("; "))
    assert json.loads(said)["key"] not in cookie
    assert answer.getheader("content-security-policy") == POLICY
    # The same signature does not sign in twice.
    again, told = served.address.send("POST", "/device/sign-in", body, {"Siding-Proof": proof})
    assert (again.status, json.loads(told)["error"]["code"]) == (403, "device_refused")


def test_a_removed_device_is_cut_off_at_once(served: Served) -> None:
    tablet = served.device().pair(served.sandbox, "tablet").sign_in()
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with (
        socket.create_connection(("127.0.0.1", served.address.port), 60) as plain,
        context.wrap_socket(plain) as stream,
    ):
        lines = [f"{name}: {value}" for name, value in tablet.headers.items()]
        head = ["GET /live?topics=project HTTP/1.1", f"Host: {served.address.host}", *lines]
        stream.sendall("\r\n".join([*head, "", ""]).encode())
        assert stream.recv(65536).startswith(b"HTTP/1.1 200")
        served.sandbox.siding("devices", "remove", "tablet")
        assert tablet.get("/api/v1/tasks")[0] == 401  # not even the next request
        served.sandbox.siding("task", "start", "secret")
        rest = b""
        try:
            while data := stream.recv(65536):
                rest += data
        except OSError:
            pass
        assert b"changed" not in rest
    assert b"Pair this browser" in tablet.get("/")[1]
    proof = tablet.proof("/device/sign-in", b"{}", tablet.challenge())
    assert refusal(tablet.post("/device/sign-in", b"{}", proof)).endswith("any more")


HOSTS = ("evil.example", "localhost:{port}", "127.0.0.1", "127.0.0.1:1", "127.0.0.1:{port}.evil")


ELSEWHERE = (
    "Origin: https://evil.example",
    "Origin: null",
    "Origin: http://{host}",
    "Sec-Fetch-Site: cross-site",
    "Sec-Fetch-Site: same-site",
)
ODD = (
    ("OPTIONS / HTTP/1.1", 405),
    ("GET /../x HTTP/1.1", 400),
    ("GET /%2e HTTP/1.1", 400),
    ("GET / HTTP/1.0", 400),
    ("PUT /api/v1/tasks HTTP/1.1", 405),
)


def test_hostile_requests_are_refused_there_too(served: Served) -> None:
    """By one server: each costs a second to start."""
    host = served.address.host
    for each in HOSTS:
        named = each.format(port=served.address.port)
        said = raw(served, f"GET / HTTP/1.1\r\nHost: {named}\r\n\r\n".encode())
        assert said.startswith(b"HTTP/1.1 421 "), each
        assert b"Pair this browser" not in said, each
    for line in (each.format(host=host) for each in ELSEWHERE):
        said = raw(served, f"GET / HTTP/1.1\r\nHost: {host}\r\n{line}\r\n\r\n".encode())
        assert said.startswith(b"HTTP/1.1 403 "), line
    for line, status in ODD:
        said = raw(served, f"{line}\r\nHost: {host}\r\n\r\n".encode())
        assert said.startswith(f"HTTP/1.1 {status} ".encode()), line
    good = f"Host: {host}\r\nOrigin: https://{host}\r\nConnection: close\r\n\r\n"
    assert raw(served, f"GET / HTTP/1.1\r\n{good}".encode()).startswith(b"HTTP/1.1 200 ")


def test_who_speaks_no_tls_and_who_is_slow_keep_nobody_out(served: Served) -> None:
    tablet = served.device().pair(served.sandbox).sign_in()
    crowd = []
    try:
        for number in range(300):
            crowd.append(socket.create_connection(("127.0.0.1", served.address.port), 10))
            if number % 2:
                crowd[-1].sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert served.dashboard.get("/api/v1/tasks")[0] == 200
        end = time.monotonic() + 60
        while True:  # handshakes that are not finished end within seconds
            try:
                assert tablet.get("/api/v1/tasks")[0] == 200
                break
            except OSError:
                assert time.monotonic() < end
                time.sleep(0.1)
    finally:
        for each in crowd:
            each.close()


def test_one_address_that_asks_too_often_is_told_to_wait(served: Served) -> None:
    stranger = served.device()
    codes = [stranger.post("/device/challenge", {"device": stranger.id})[0] for _ in range(62)]
    assert codes[:60] == [200] * 60
    assert codes[60:] == [429] * 2


def test_it_is_off_by_default_and_says_where_it_is(served: Served, tmp_path: Path) -> None:
    until(lambda: b"Ctrl-C ends it" in served.dashboard.said)
    said = served.dashboard.said.decode()
    assert f"paired devices reach it at https://127.0.0.1:{served.address.port}" in said
    shown = re.search(r"SHA-256 of its certificate: ([0-9A-F:]{95})", said)
    assert shown
    der = ssl.get_server_certificate(("127.0.0.1", served.address.port))
    pem = served.sandbox.directory / "siding" / "devices" / "served.pem"
    assert der.strip() in pem.read_text()
    assert stat.S_IMODE(pem.stat().st_mode) == 0o600
    assert shown.group(1) in str(served.device().get("/pair")[1])
    told = json.loads((served.sandbox.project / "dashboard.json").read_text())
    assert told["served"] == f"https://127.0.0.1:{served.address.port}"
    assert told["fingerprint"] == shown.group(1)
    other = Sandbox(tmp_path / "other")
    with Dashboard(other) as quiet:
        other_told = json.loads((other.project / "dashboard.json").read_text())
        assert (other_told["served"], other_told["fingerprint"]) == ("", "")
        assert b"certificate" not in quiet.said
        assert not (other.directory / "siding" / "devices").exists()


def test_the_certificate_stays_until_it_lacks_a_name(sandbox: Sandbox) -> None:
    seen = []
    for host in ("127.0.0.1", "127.0.0.1", "localhost"):
        port = free_port()
        with Dashboard(sandbox, "--serve", f"{host}:{port}") as running:
            address = Address(f"{host}:{port}", port, tls=True)
            assert Device(address, {}).get("/")[0] == 200
            told = json.loads((sandbox.project / "dashboard.json").read_text())
            seen.append(told["fingerprint"])
            until(lambda now=running: b"Ctrl-C ends it" in now.said)
            assert (b"each device has to compare it" in running.said) == (len(seen) != 2)
    assert seen[0] == seen[1] != seen[2]


@pytest.mark.parametrize(
    "where", ["0", "x", "0.0.0.0:8443", "[::]:8443", "nowhere.invalid:8443", "1:"]
)
def test_what_is_no_address_of_this_machine_is_refused(sandbox: Sandbox, where: str) -> None:
    done = subprocess.run(
        [*SIDING, "ui", "--serve", where],
        cwd=sandbox.repo,
        env=sandbox.env,
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 2
    assert b"--serve" in done.stderr


def test_a_device_of_the_loopback_is_no_device_of_the_served_page(served: Served) -> None:
    """The origin is part of what is signed, and the same device may sign for both."""
    near = on_loopback(served.dashboard).pair(served.sandbox)
    far = Device(served.address, {})
    far.key, far.public, far.id = near.key, near.public, near.id
    far.sign_in()
    body = json.dumps(YES).encode()
    proof = near.proof(served.answer, body, near.challenge())
    assert "not of this request" in refusal(far.post(served.answer, body, proof))
    assert far.signed(served.answer, YES)[0] == 200
