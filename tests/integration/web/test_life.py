"""One dashboard a project, found by others, gone when nobody looks."""

import json
import os
import re
import signal
import socket
import stat
import threading
import time

import pytest

from dashboards import Dashboard, memory_mb
from sandbox import SIDING, Sandbox
from terminal import Terminal


def _has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as asking:
            asking.bind(("::1", 0))
    except OSError:
        return False
    return True


needs_ipv6 = pytest.mark.skipif(not _has_ipv6(), reason="this machine has no ::1")


def test_it_ends_when_nobody_looks(sandbox: Sandbox) -> None:
    with Dashboard(sandbox, "--idle", "0.02") as dashboard:
        assert dashboard.wait() == 0
        assert b"so it ends" in dashboard.said
    assert not (sandbox.project / "dashboard.json").exists()


def test_somebody_who_follows_it_keeps_it_alive(sandbox: Sandbox) -> None:
    with Dashboard(sandbox, "--idle", "0.02") as dashboard:
        with _follow(dashboard, "project") as stream:
            assert stream.recv(65536).startswith(b"HTTP/1.1 200")
            time.sleep(2.5)  # twice as long as it would wait
            assert dashboard.get("/api/v1/project")[0] == 200
        assert dashboard.wait() == 0


def test_it_is_found_by_others_and_only_by_its_owner(sandbox: Sandbox) -> None:
    sandbox.siding("init")
    assert not (sandbox.project / "dashboard.json").exists()  # off by default
    with Dashboard(sandbox) as dashboard:
        path = sandbox.project / "dashboard.json"
        told = json.loads(path.read_text(encoding="utf-8"))
        assert (told["port"], told["key"], told["pid"]) == (
            dashboard.port,
            dashboard.key,
            dashboard.pid,
        )
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        second = sandbox.siding("ui")
        assert second.stdout.decode().strip() == dashboard.address
        assert b"runs already" in second.stderr
        assert len(dashboard.key) >= 43  # 256 bits
        assert dashboard.end() in (0, 130)
    assert not path.exists()
    with Dashboard(sandbox) as later:
        assert later.key != dashboard.key
        os.kill(later.pid, signal.SIGKILL)
        later.wait()
        # A dead one's file is there and is not believed.
        assert path.exists()
        with Dashboard(sandbox) as again:
            assert again.key != later.key


def test_ctrl_c_ends_it_while_pages_are_open(sandbox: Sandbox) -> None:
    terminal = Terminal([*SIDING, "ui"], cwd=sandbox.repo, env=sandbox.env)
    try:
        seen = terminal.wait_for(b"Ctrl-C ends it")
        found = re.search(rb"http://127\.0\.0\.1:(\d+)/#key=([\w-]+)", seen)
        assert found
        with socket.create_connection(("127.0.0.1", int(found.group(1))), 10) as page:
            page.sendall(
                b"GET /live?topics=project HTTP/1.1\r\nHost: 127.0.0.1:%b\r\n"
                b"Authorization: Bearer %b\r\n\r\n" % found.groups()
            )
            assert page.recv(100).startswith(b"HTTP/1.1 200")
            terminal.type(b"\x03")
            assert terminal.finish() in (0, 130)
    finally:
        terminal.kill()


def test_a_browser_is_given_a_ticket_and_never_the_key(sandbox: Sandbox) -> None:
    told = sandbox.directory / "told"
    browser = sandbox.directory / "browser"
    browser.write_text(f'#!/bin/sh\nprintf "%s" "$1" > "{told}"\n', encoding="utf-8")
    browser.chmod(0o755)
    sandbox.env["BROWSER"] = str(browser)
    with Dashboard(sandbox, "--open") as dashboard:
        while not told.exists() or not told.read_text(encoding="utf-8"):
            time.sleep(0.02)
        address = told.read_text(encoding="utf-8")
        assert re.fullmatch(rf"http://127\.0\.0\.1:{dashboard.port}/#ticket=[\w.]+", address)
        assert dashboard.key not in address


def test_a_step_cannot_start_one(sandbox: Sandbox) -> None:
    """It would read the codes that a person is asked for."""
    sandbox.siding("task", "start", "one")
    done = sandbox.siding("run", "--", *SIDING, "ui", "--idle", "0.02", status=None)
    assert done.returncode != 0
    assert b"#key=" not in done.stdout


def test_a_port_that_is_taken_is_said(sandbox: Sandbox) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = sandbox.siding("ui", "--port", str(taken.getsockname()[1]), status=1)
    assert b"cannot be used" in done.stderr
    for bad in (["--port", "0"], ["--port", "70000"], ["--idle", "0"], ["--idle", "-1"]):
        sandbox.siding("ui", *bad, status=2)


@needs_ipv6
def test_nobody_else_can_be_localhost(sandbox: Sandbox) -> None:
    """Browsers look for it at ::1 first: who had that could show pages in the dashboard's name."""
    with Dashboard(sandbox) as dashboard:
        with socket.create_connection(("::1", dashboard.port), 20) as near:
            near.sendall(
                f"GET /api/v1/project HTTP/1.1\r\nHost: localhost:{dashboard.port}\r\n"
                f"Authorization: Bearer {dashboard.key}\r\n\r\n".encode()
            )
            assert near.recv(65536).startswith(b"HTTP/1.1 200")
        for option in (socket.SO_REUSEADDR, socket.SO_REUSEPORT):
            with socket.socket(socket.AF_INET6) as rival:
                rival.setsockopt(socket.SOL_SOCKET, option, 1)
                with pytest.raises(OSError, match="in use"):
                    _listen_at(rival, "::1", dashboard.port)
    with socket.socket(socket.AF_INET6) as taken:
        taken.bind(("::1", 0))
        taken.listen()
        done = sandbox.siding("ui", "--port", str(taken.getsockname()[1]), status=1)
        assert b"cannot be used" in done.stderr


def test_many_followers_of_one_step_get_the_same_and_cost_little(sandbox: Sandbox) -> None:
    sandbox.siding("task", "start", "one")
    with Dashboard(sandbox) as dashboard:
        (task,) = [each["id"] for each in dashboard.json("/api/v1/tasks")["tasks"]]
        script = "while [ ! -e go ]; do sleep 0.05; done; seq 1 20000; echo the end"
        runner = threading.Thread(target=sandbox.siding, args=("run", "--", "sh", "-c", script))
        runner.start()
        try:
            while not any(each["running"] for each in dashboard.json("/api/v1/tasks")["tasks"]):
                time.sleep(0.05)
            before = memory_mb(dashboard.pid)
            followers = [_follow(dashboard, f"output.{task}.1.stdout") for _ in range(40)]
            (sandbox.workspace() / "go").touch()
            seen = [_until(each, b'"ended": true') for each in followers]
        finally:
            (sandbox.workspace() / "go").touch()
            runner.join()
        assert all(b"the end" in each for each in seen)
        assert memory_mb(dashboard.pid) - before < 30
        for each in followers:
            each.close()


def test_a_large_output_is_never_read_whole(sandbox: Sandbox) -> None:
    sandbox.siding("task", "start", "one")
    size = 100 << 20
    sandbox.siding(
        "run", "--quiet", "--", "sh", "-c", f"head -c {size} /dev/zero | tr '\\0' 'a\\n'"
    )
    with Dashboard(sandbox) as dashboard:
        (task,) = [each["id"] for each in dashboard.json("/api/v1/tasks")["tasks"]]
        base = f"/api/v1/tasks/{task}/steps/1/output"
        before = memory_mb(dashboard.pid)
        for at in range(0, size, size // 20):
            window = dashboard.json(f"{base}?at={at}&size=1000")
            assert (window["start"], window["end"], window["size"]) == (at, at + 1000, size)
            assert dashboard.get(f"/view/tasks/{task}/steps/1/output?at={at}")[0] == 200
        status, raw = dashboard.get(f"/api/v1/tasks/{task}/steps/1/stdout.raw")
        assert (status, len(raw)) == (200, size)
        assert memory_mb(dashboard.pid) - before < 40


def _listen_at(there: socket.socket, address: str, port: int) -> None:
    there.bind((address, port))
    there.listen()


def _follow(dashboard: Dashboard, topic: str) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", dashboard.port), 20)
    connection.sendall(
        f"GET /live?topics={topic} HTTP/1.1\r\nHost: 127.0.0.1:{dashboard.port}\r\n"
        f"Authorization: Bearer {dashboard.key}\r\n\r\n".encode()
    )
    return connection


def _until(connection: socket.socket, wanted: bytes) -> bytes:
    seen = b""
    while wanted not in seen:
        data = connection.recv(1 << 20)
        assert data, seen[-2000:]
        seen += data
    return seen
