"""A foothold inside a run: connections that a test makes come from a process of the run.

The run's command listens at a socket in its workspace and connects each who comes there with the
broker, byte by byte. So a test speaks to the broker as any process of the run would.
"""

import json
import os
import socket
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sandbox import Sandbox

FOOTHOLD = """
import os, socket, sys, threading
def pump(a, b):
    try:
        while data := a.recv(65536):
            b.sendall(data)
        b.shutdown(socket.SHUT_WR)
    except OSError:
        for each in (a, b):
            try: each.shutdown(socket.SHUT_RDWR)
            except OSError: pass
def serve(near):
    far = socket.socket(socket.AF_UNIX)
    try: far.connect(os.environ["SIDING_SOCKET"])
    except OSError: near.close(); return
    there = threading.Thread(target=pump, args=(near, far))
    there.start()
    pump(far, near)
    there.join()
    near.close(); far.close()
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
door = socket.socket(socket.AF_UNIX)
door.bind("foothold")
door.listen(2000)
open("ready", "w").write(os.environ["SIDING_SOCKET"])
while True:
    threading.Thread(target=serve, args=door.accept()[:1], daemon=True).start()
"""


class Line:
    """A connection with a broker."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        connection.settimeout(60)
        self._received = b""

    def say(self, data: bytes) -> None:
        self.connection.sendall(data)

    def hear(self) -> bytes:
        """Return the next line, b"" if the broker has hung up."""
        while b"\n" not in self._received:
            try:
                data = self.connection.recv(65536)
            except ConnectionError:
                data = b""
            if not data:
                return b""
            self._received += data
        line, _newline, self._received = self._received.partition(b"\n")
        return line

    def ask(self, what: str, **fields: object) -> Mapping[str, Any]:
        """Put a request and return the answer."""
        self.say(json.dumps({"do": what, **fields}).encode() + b"\n")
        return self.answer()

    def answer(self) -> Mapping[str, Any]:
        found = json.loads(self.hear())
        assert isinstance(found, dict)
        return found

    def result(self, what: str, **fields: object) -> Mapping[str, Any]:
        """Put a request that must succeed, and return its result."""
        found = self.ask(what, **fields)
        assert found["ok"] is True, found
        result = found["result"]
        assert isinstance(result, dict)
        return result

    def refused(self, what: str, **fields: object) -> str:
        """Put a request that must be refused, and return the code of the error."""
        found = self.ask(what, **fields)
        assert found["ok"] is False, found
        return str(found["error"]["code"])

    def close(self) -> None:
        self.connection.close()


class Foothold:
    """A run that lives, and connections from inside it."""

    def __init__(self, task: Sandbox, run: str) -> None:
        self.task = task
        self.run = run
        self.workspace = task.workspace()
        self.lines: list[Line] = []

    @property
    def broker(self) -> str:
        """The path of the broker's socket."""
        return (self.workspace / "ready").read_text()

    def line(self) -> Line:
        """Connect to the broker from inside the run."""
        self.lines.append(Line(connected(self.workspace / "foothold")))
        return self.lines[-1]

    def can_ask(self) -> bool:
        """Tell whether the broker answers a new connection."""
        line = self.line()
        line.say(b'{"do": "hello"}\n')
        try:
            return bool(line.answer()["ok"])
        except (ValueError, OSError):
            return False
        finally:
            line.close()

    @property
    def record(self) -> dict[str, Any]:
        (path,) = self.task.project.glob(f"tasks/*/runs/{self.run}.json")
        found = json.loads(path.read_bytes())
        assert isinstance(found, dict)
        return found


def connected(path: Path) -> socket.socket:
    """Return a connection to a socket, however long its path is."""
    there = socket.socket(socket.AF_UNIX)
    directory = os.open(path.parent, os.O_PATH)
    try:
        there.connect(f"/proc/self/fd/{directory}/{path.name}")
    finally:
        os.close(directory)
    return there


@contextmanager
def foothold(
    task: Sandbox, *options: str, env: Mapping[str, str] | None = None
) -> Iterator[Foothold]:
    """Start a run with a foothold in it; end it in any case."""
    ready = task.workspace() / "ready"
    for name in ("ready", "foothold"):
        (ready.parent / name).unlink(missing_ok=True)
    done = task.siding("run", "--detach", *options, "--", sys.executable, "-c", FOOTHOLD, env=env)
    run = done.stderr.decode().split(" · ")[1].split()[0]
    found = Foothold(task, run)
    try:
        until(lambda: ready.exists() and ready.read_text())
        yield found
    finally:
        for line in found.lines:
            line.close()
        task.siding("stop", "--all", status=None)


def until(condition: Any, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.01)
