"""Many pages that follow one running step, against one that does."""

import re
import selectors
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter_ns

from benchmarks.bench import Bench, Figure, Row
from benchmarks.dashboard import Server, cpu_ms, dashboard, rss_mb
from benchmarks.measure import Sample, Timing

LINES = 20_000  # printed in two seconds
_END = b'"ended": true'
_PRINTS = (
    "import pathlib, sys, time\n"
    "while not pathlib.Path('go').exists(): time.sleep(0.01)\n"
    f"for n in range({LINES}):\n"
    "    print(f'\\x1b[32mline\\x1b[0m {n} of a program that tells how it gets on', flush=True)\n"
    "    if n % 100 == 0: time.sleep(0.01)\n"
)


def _measure(bench: Bench) -> Iterator[Row]:
    one: Timing | None = None
    for viewers in bench.sizes(1, 20, 200, quick=2):
        samples = tuple(_sample(bench, viewers, each) for each in range(bench.rounds(3, quick=1)))
        timing = Timing(samples)
        one = one or timing
        note = f"cpu {timing.cpu_ms / viewers:.1f} ms a viewer, {timing.rss_mb:.0f} MB in all"
        case = f"{viewers:,} follow a step that prints {LINES:,} lines"
        yield Row("viewers", case, viewers, timing, one, "one viewer", note=note)


def _sample(bench: Bench, viewers: int, number: int) -> Sample:
    """Return the time from the first line to the last at the last viewer, and what it cost."""
    name = f"viewers-{viewers}-{number}"
    repository, env = bench.repository(200), bench.home(name)
    bench.run([bench.siding, "task", "start", "one"], cwd=repository, env=env)
    (project,) = (Path(env["SIDING_HOME"]) / "projects").iterdir()
    (task,) = [each.name for each in (project / "tasks").iterdir()]
    with dashboard(bench, repository, env) as server:
        step = subprocess.Popen(
            [bench.siding, "run", "-q", "--", bench.python, "-c", _PRINTS],
            cwd=repository,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        try:
            while not (project / "tasks" / task / "artifacts" / "0001.output").exists():
                pass
            open_pages = [_follow(server, f"output.{task}.1.stdout") for _ in range(viewers)]
            cpu, begun = cpu_ms(server.process.pid), perf_counter_ns()
            (project / "workspaces" / task / "go").touch()
            seen = _until_end(open_pages)
            wall = (perf_counter_ns() - begun) / 1e6
            spent, memory = cpu_ms(server.process.pid) - cpu, rss_mb(server.process.pid)
        finally:
            step.kill()
            step.wait()
        for each in open_pages:
            each.close()
    if not all(re.search(rb"line<[^>]*> 19999 ", each) for each in seen):
        raise RuntimeError("a viewer did not see the last line")
    return Sample(wall_ms=wall, cpu_ms=spent, rss_mb=memory)


def _follow(server: Server, topic: str) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", server.port), 30)
    headers = [f"{name}: {value}" for name, value in server.headers.items()]
    lines = [f"GET /live?topics={topic} HTTP/1.1", f"Host: 127.0.0.1:{server.port}", *headers]
    connection.sendall("\r\n".join([*lines, "", ""]).encode())
    return connection


def _until_end(pages: list[socket.socket]) -> list[bytes]:
    """Read what every page is sent until it says that the step has ended; return the last of it."""
    seen = dict.fromkeys(pages, b"")
    left = set(pages)
    with selectors.DefaultSelector() as waiting:
        for page in pages:
            waiting.register(page, selectors.EVENT_READ)
        while left:
            for key, _ in waiting.select(timeout=60):
                ready = key.fileobj
                assert isinstance(ready, socket.socket)
                data = ready.recv(1 << 18)
                seen[ready] = (seen[ready] + data)[-200_000:]
                if not data or _END in seen[ready]:
                    left.discard(ready)
                    waiting.unregister(ready)
    return list(seen.values())


FIGURE = Figure(
    title="many viewers of one running step",
    goal="shown to explain: what more viewers cost",
    floor="one viewer of the same step",
    follows="the rows are made once; each viewer adds the copying of its bytes",
    measure=_measure,
)
