"""A server that says what a test tells it, byte by byte, and the two proxies of a run before it."""

import asyncio
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, Self

from siding.record.wire.journal import WireJournal
from siding.sandbox.wire.egress import Allowance, EgressRelay
from siding.sandbox.wire.ends import Reach
from siding.sandbox.wire.hosts import HostList
from siding.sandbox.wire.spec import Route, Spec

PATIENCE_S = 20.0
SECRET = "0123456789abcdef"


class Talk:
    """A connection, at either end. Every wait is bounded."""

    all: ClassVar[list["Talk"]] = []  # that were not closed by `end_talks`

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        sock.settimeout(PATIENCE_S)
        self.seen = b""
        self.all.append(self)

    def send(self, data: bytes) -> None:
        self.sock.sendall(data)

    def until(self, mark: bytes) -> bytes:
        """Read until `mark` has come; return all up to its end, and keep what is behind it."""
        while mark not in self.seen:
            data = self.sock.recv(65536)
            assert data, f"it hung up after {self.seen!r}"
            self.seen += data
        head, mark, self.seen = self.seen.partition(mark)
        return head + mark

    def take(self, count: int) -> bytes:
        """Read so many bytes."""
        while len(self.seen) < count:
            data = self.sock.recv(65536)
            assert data, f"it hung up after {self.seen!r}"
            self.seen += data
        found, self.seen = self.seen[:count], self.seen[count:]
        return found

    def rest(self) -> bytes:
        """Read to the end of the connection. Raises ConnectionResetError if it was reset."""
        while data := self.sock.recv(65536):
            self.seen += data
        found, self.seen = self.seen, b""
        return found

    def close(self) -> None:
        self.sock.close()

    def reset(self) -> None:
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        self.sock.close()


def end_talks() -> None:
    """Close all connections of a test."""
    while Talk.all:
        Talk.all.pop().close()


class Server:
    """Listens on loopback; a test takes its connections one by one."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(PATIENCE_S)
        self.port: int = self._listener.getsockname()[1]

    def accept(self) -> Talk:
        return Talk(self._listener.accept()[0])

    def is_alone(self) -> bool:
        """Tell whether nobody has connected that was not accepted."""
        self._listener.settimeout(0)
        try:
            Talk(self._listener.accept()[0])
        except BlockingIOError:
            return True
        return False

    def close(self) -> None:
        end_talks()
        self._listener.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


class MeterAtWork:
    """The proxy of a run as a process, with one listener that stands in for a server."""

    def __init__(self, directory: Path, route: Callable[[int], Route], **spec: Any) -> None:
        self.journal = directory / "r1.wire"
        listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = listener.getsockname()[1]
        reading, self._lifeline = os.pipe()
        told = Spec(str(self.journal), reading, (route(listener.fileno()),), **spec)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "siding.sandbox.wire.program"],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=(reading, listener.fileno()),
        )
        assert self.process.stdin is not None
        self.process.stdin.write(told.encoded())
        self.process.stdin.close()
        os.close(reading)
        listener.close()

    def client(self) -> Talk:
        return Talk(socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_S))

    def ends(self) -> list[dict[str, Any]]:
        """End the run; return the lines, all of which are written then."""
        self._hang_up()
        assert self.process.stderr is not None
        said = self.process.stderr.read()
        assert self.process.wait(PATIENCE_S) == 0
        assert said == b""
        return lines_of(self.journal)

    def close(self) -> None:
        self._hang_up()
        self.process.kill()
        self.process.wait()
        assert self.process.stderr is not None
        self.process.stderr.close()

    def _hang_up(self) -> None:
        if self._lifeline >= 0:
            os.close(self._lifeline)
            self._lifeline = -1


def lines_of(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines()]


@contextmanager
def meter(
    directory: Path, server: Server, *, env: Mapping[str, str] | None = None, **fields: Any
) -> Iterator[MeterAtWork]:
    """The proxy before a server, which speaks without TLS if `fields` of the route do not say so.

    `env` says which certificates are trusted.
    """

    def route(fd: int) -> Route:
        where = f"127.0.0.1:{server.port}"
        made = Route(fd, SECRET, tls=False, host="127.0.0.1", port=server.port, authority=where)
        return made._replace(**fields)

    at_work = MeterAtWork(directory, route, env=dict(env or {}))
    try:
        yield at_work
    finally:
        at_work.close()


class EgressAtWork:
    """The proxy for a list of hosts, in a thread; names lead where the test says."""

    def __init__(
        self, directory: Path, hosts: tuple[str, ...], names: dict[str, list[str]]
    ) -> None:
        self.journal = directory / "r1.wire"
        self._hosts, self._names = hosts, names
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._loop = asyncio.new_event_loop()
        self._over = asyncio.Event()
        self.asked: list[str] = []  # names that were resolved
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=(self._serve(),))
        self._thread.start()

    def client(self) -> Talk:
        return Talk(socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_S))

    def asks(self, request: bytes) -> bytes:
        """Send a request; return the first line of the answer."""
        talk = self.client()
        talk.send(request)
        line = talk.until(b"\r\n").strip()
        talk.close()
        return line

    def tunnel(self, host: str) -> Talk:
        """Return a tunnel to an allowed host."""
        talk = self.client()
        talk.send(f"CONNECT {host} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        assert talk.until(b"\r\n\r\n").startswith(b"HTTP/1.1 200 ")
        return talk

    def lines(self) -> list[dict[str, Any]]:
        return lines_of(self.journal)

    def close(self) -> None:
        end_talks()
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join()
        self._loop.close()

    async def _serve(self) -> None:
        allowance = Allowance(
            hosts=HostList(self._hosts),
            reach=Reach({}),
            resolve=self._resolve,
            journal=WireJournal(self.journal),
            at=lambda: "2026-11-24T12:00:00+00:00",
            now=lambda: self._loop.time() * 1000,
        )
        serving = await self._loop.create_server(
            lambda: EgressRelay(allowance).client, sock=self._listener
        )
        await self._over.wait()
        serving.close()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()

    async def _resolve(self, host: str, _port: int) -> list[str]:
        self.asked.append(host)
        return self._names.get(host, [])
