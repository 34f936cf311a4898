"""A development server that reloads itself, and tests beside it, while somebody goes back."""

import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path

import pytest

from sandbox import Sandbox

PYTHON = sys.executable
# It serves what `page.py` says, and starts itself anew when a module changed, as the reloaders of
# web frameworks do: by the times of the files, from a thread.
SERVER = """
import http.server, os, sys, threading, time

def stamps():
    found = map(os.stat, ("page.py", "server.py"))
    return [(it.st_ino, it.st_size, it.st_mtime_ns) for it in found]

before = stamps()
import page

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        text = f"{os.getpid()} {page.TEXT}".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *words):
        print("served", flush=True)

def reload():
    while True:
        time.sleep(0.02)
        try:
            if stamps() != before:
                os.execv(sys.executable, [sys.executable, "-B", *sys.argv])
        except FileNotFoundError:
            pass  # it is being replaced

threading.Thread(target=reload, daemon=True).start()
http.server.HTTPServer(("127.0.0.1", int(os.environ["SIDING_PORT"])), Handler).serve_forever()
"""
TEST = """
import page

def test_it():
    assert page.TEXT in ("zero", "one", "two")
"""
ASKING = """
import os, urllib.request
from http.client import HTTPException

def test_it():
    url = f"http://127.0.0.1:{os.environ['SIDING_PORT']}/"
    seen = set()
    while not os.path.exists("enough"):
        try:
            with urllib.request.urlopen(url, timeout=60) as answer:
                seen.add(answer.read().decode().split()[1])
            open("asked", "w").close()
        except (OSError, HTTPException):
            pass  # it reloads
    assert seen == {"zero", "one"}
"""
PYTEST = (PYTHON, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist")


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Sandbox]:
    files = {
        "server.py": SERVER,
        "page.py": 'TEXT = "zero"\n',
        "test_page.py": TEST,
    }
    sandbox = Sandbox(tmp_path, files=files)
    sandbox.siding("task", "start", "page")
    sandbox.siding("run", "--detach", "--name", "web", "--", PYTHON, "-B", "server.py")
    try:
        yield sandbox
    finally:
        sandbox.siding("stop", "--all", "--now", status=None)


def wait_until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.01)


def page(port: int) -> tuple[int, str]:
    """Return the process that serves, and what it says; (0, "") while nobody does."""
    url = f"http://127.0.0.1:{port}/"
    with suppress(OSError, HTTPException), urllib.request.urlopen(url, timeout=60) as answer:
        pid, text = answer.read().decode().split()
        return int(pid), text
    return 0, ""


def port_of(sandbox: Sandbox) -> int:
    return int(sandbox.json("status", "--format", "json")["port"])


def wait_for(port: int, text: str) -> int:
    """Wait until the page says this; return the process that serves it."""
    wait_until(lambda: page(port)[1] == text)
    return page(port)[0]


def write(sandbox: Sandbox, text: str) -> None:
    """Record a run that writes another page."""
    sandbox.siding("run", "--", "sh", "-c", f"""echo 'TEXT = "{text}"' >page.py""")


def test_it_shows_each_state_that_somebody_goes_to(served: Sandbox) -> None:
    port = port_of(served)
    pid = wait_for(port, "zero")
    for text in ("one", "two"):
        write(served, text)
        assert wait_for(port, text) == pid
    for words, text in (
        (("undo",), "one"),
        (("undo",), "zero"),
        (("redo",), "one"),
        (("redo",), "two"),
        (("rollback", "--base"), "zero"),
        (("rollback", "--step", "2"), "two"),
    ):
        served.siding(*words)
        assert wait_for(port, text) == pid, words
    assert b"1 passed" in served.siding("run", "--", *PYTEST).stdout
    (run,) = served.json("runs", "--format", "json")
    assert (run["name"], run["state"]) == ("web", "running")
    served.siding("stop", "web")
    assert page(port) == (0, "")
    assert b"served" in served.siding("output", str(run["run"])).stdout
    served.siding("verify")


def test_tests_that_run_are_paused_with_it_and_pass(served: Sandbox) -> None:
    """Each test of theirs asks the server, while the page goes back and forth."""
    port = port_of(served)
    wait_for(port, "zero")
    write(served, "one")
    wait_for(port, "one")
    workspace = served.workspace()
    (workspace / "test_asking.py").write_text(ASKING)
    served.siding("checkpoint", "-m", "tests that ask")
    served.siding("run", "--detach", "--name", "tests", "--", *PYTEST, "test_asking.py")
    wait_until((workspace / "asked").exists)
    for _ in range(3):
        for state, text in ((("--base",), "zero"), (("--step", "1"), "one")):
            served.siding("rollback", *state, "page.py", cwd=workspace)
            wait_for(port, text)
    (workspace / "enough").touch()
    wait_until(lambda: len(served.json("runs", "--format", "json")) == 1)
    (tests,) = [step for step in served.steps() if step.get("name") == "tests"]
    assert tests["exit_code"] == 0, served.siding("show", tests["step_id"], "--raw").stdout
    backs = [step for step in served.steps() if step["kind"] == "rollback"]
    assert [step["beside"] for step in backs] == [["r1", tests["run"]]] * 6
    served.siding("verify")
