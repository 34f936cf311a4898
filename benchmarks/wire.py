"""What a metered run pays: requests through its proxy, a long stream, and the proxy's start."""

import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from time import perf_counter_ns

from benchmarks.bench import Bench, Figure, Goal, Row
from benchmarks.measure import Sample, command, side_by_side
from benchmarks.wire_worker import EVENT, head_of
from siding.sandbox.wire.spec import Route, Spec

OVER_MS = 5
START_MS = 400
BODY = b'{"model": "m", "messages": ["%s"]}' % (b"x" * 50_000)
SECRET = "0123456789abcdef"
MEGABYTES = 1_000_000


class _Client:
    """A connection that stays open. `prefix` is what stands before each path."""

    def __init__(self, port: int, prefix: str) -> None:
        self._prefix = prefix
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._file = self._socket.makefile("rb")

    def asks(self, path: str) -> Sample:
        """Time one request with a body of 50 kB, until the last byte of its answer."""
        head = f"POST {self._prefix}/{path} HTTP/1.1\r\nHost: h\r\nContent-Length: {len(BODY)}"
        begun = perf_counter_ns()
        self._socket.sendall(head.encode() + b"\r\n\r\n" + BODY)
        line, length = head_of(self._file)
        if line.split()[1] != b"200":
            raise RuntimeError(line.decode())
        if length:
            self._file.read(length)
        else:
            self._read_chunks()
        return Sample(wall_ms=(perf_counter_ns() - begun) / 1e6, cpu_ms=0.0)

    def _read_chunks(self) -> None:
        while size := int(self._file.readline(), 16):
            self._file.read(size + 2)
        self._file.readline()

    def close(self) -> None:
        self._file.close()
        self._socket.close()


def _measure(bench: Bench) -> Iterator[Row]:
    with _server(bench) as port:
        with _proxy(bench, port) as through:
            proxied, direct = _Client(through, f"/{SECRET}"), _Client(port, "")
            runs = [partial(each.asks, "answer") for each in (proxied, direct)]
            ours, floor = side_by_side(runs, rounds=bench.rounds(200, quick=50))
            name = "the same request without it"
            yield Row(
                *("request", "a request of 50 kB", 1, ours, floor, name),
                goal=OVER_MS,
                bounds=Goal.OVER,
            )
            for events in bench.sizes(10_000, 100_000, 1_000_000, quick=2):
                runs = [partial(each.asks, f"stream/{events}") for each in (proxied, direct)]
                ours, floor = side_by_side(runs, rounds=bench.rounds(5), warm_ups=1)
                rate = events * len(EVENT) / MEGABYTES / (ours.median_ms / 1000)
                yield Row(
                    *("stream", f"a stream of {events:,} events", events, ours, floor, name),
                    bounds=Goal.THROUGHPUT,
                    note=f"{rate:.0f} MB/s, {ours.median_ms * 1000 / events:.1f} µs an event",
                )
            proxied.close()
            direct.close()
        started = partial(_start, bench, port)
        bare = command([bench.python, "-c", "pass"], env=bench.env, cwd=bench.directory)
        ours, floor = side_by_side([started, bare], rounds=bench.rounds(15))
        yield Row(
            *("start", "from its start to its first answer", 1, ours, floor, "python3 -c pass"),
            goal=START_MS,
            bounds=Goal.OVER,
        )


def _start(bench: Bench, port: int) -> Sample:
    begun = perf_counter_ns()
    with _proxy(bench, port) as through:
        client = _Client(through, f"/{SECRET}")
        client.asks("answer")
        ended = perf_counter_ns()
        client.close()
    return Sample(wall_ms=(ended - begun) / 1e6, cpu_ms=0.0)


@contextmanager
def _server(bench: Bench) -> Iterator[int]:
    """Run the model's server, in a process of its own; yield its port."""
    worker: list[str | Path] = [bench.python, "-m", "benchmarks.wire_worker"]
    process = subprocess.Popen(worker, stdout=subprocess.PIPE)
    assert process.stdout is not None
    try:
        yield int(process.stdout.readline())
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@contextmanager
def _proxy(bench: Bench, port: int) -> Iterator[int]:
    """Run the proxy of a run before that server; yield the port at which it stands in for it."""
    listener = socket.create_server(("127.0.0.1", 0))
    reading, writing = os.pipe()
    where = f"127.0.0.1:{port}"
    route = Route(
        listener.fileno(), SECRET, tls=False, host="127.0.0.1", port=port, authority=where
    )
    told = Spec(str(bench.directory / "r1.wire"), reading, (route,)).encoded()
    process = subprocess.Popen(
        [bench.python, "-m", "siding.sandbox.wire.program"],
        stdin=subprocess.PIPE,
        env=dict(bench.env),
        pass_fds=(reading, listener.fileno()),
    )
    assert process.stdin is not None
    process.stdin.write(told)
    process.stdin.close()
    os.close(reading)
    through: int = listener.getsockname()[1]
    listener.close()
    try:
        yield through
    finally:
        os.close(writing)  # the run is over
        process.wait()


FIGURE = Figure(
    title="requests through the proxy of a metered run",
    goal=f"a request {OVER_MS} ms over the same without it, its start {START_MS} ms over Python's",
    floor="the same request over a connection to the server; python3 -c pass",
    follows="a request: its bytes; a stream: its pieces, of which each is read by h11",
    measure=_measure,
)
