"""F11: pages of the dashboard against a static file of the same bytes."""

import http.client
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from time import perf_counter_ns
from typing import NamedTuple

from benchmarks import homes
from benchmarks.bench import Bench, Figure, Row
from benchmarks.measure import Run, Sample, side_by_side

OVER_MS = 30.0
USABLE_MS = 300.0
LINES = 50_000
_FILES = 40
_FILE_SERVER = """
import http.server
class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *words): pass
server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
"""
_LARGE = f"""
for name in range({_FILES}):
    with open(f"large{{name:02}}.py", "w") as out:
        for line in range({LINES // _FILES}):
            out.write(f"value_{{line}} = {{line}}  # a comment\\n")
"""


class Server(NamedTuple):
    """A running server: the dashboard, or one of files."""

    process: "subprocess.Popen[str]"
    port: int
    headers: dict[str, str]

    def request(self, path: str) -> Sample:
        """Ask once; the time is that to the first byte of the body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        cpu = cpu_ms(self.process.pid)
        try:
            connection.connect()
            begun = perf_counter_ns()
            connection.request("GET", path, headers=self.headers)
            answer = connection.getresponse()
            answer.read(1)
            wall = (perf_counter_ns() - begun) / 1e6
            answer.read()
        finally:
            connection.close()
        if answer.status != 200:
            raise RuntimeError(f"{path}: status {answer.status}")
        spent = cpu_ms(self.process.pid) - cpu
        return Sample(wall_ms=wall, cpu_ms=spent, rss_mb=rss_mb(self.process.pid))


def cpu_ms(pid: int) -> float:
    """Return the processor time of all threads of a process."""
    total = 0
    for thread in Path(f"/proc/{pid}/task").iterdir():
        with suppress(FileNotFoundError):  # it has just ended
            total += int((thread / "schedstat").read_text(encoding="ascii").split()[0])
    return total / 1e6


def rss_mb(pid: int) -> float:
    """Return the resident memory of a process."""
    text = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    found = re.search(r"VmRSS:\s+(\d+) kB", text)
    return int(found.group(1)) / 1024 if found else 0.0


@contextmanager
def dashboard(bench: Bench, repository: Path, env: Mapping[str, str]) -> Iterator[Server]:
    """Run `siding ui`."""
    with _process([str(bench.siding), "ui"], repository, env) as process:
        assert process.stdout is not None
        found = re.search(r":(\d+)/#key=(\S+)", process.stdout.readline())
        assert found, "the dashboard did not start"
        key = {"Authorization": f"Bearer {found.group(2)}"}
        yield Server(process, int(found.group(1)), key)


@contextmanager
def _files(directory: Path) -> Iterator[Server]:
    with _process([sys.executable, "-c", _FILE_SERVER], directory, os.environ) as process:
        assert process.stdout is not None
        yield Server(process, int(process.stdout.readline()), {})


@contextmanager
def _process(
    argv: list[str], cwd: Path, env: Mapping[str, str]
) -> "Iterator[subprocess.Popen[str]]":
    process = subprocess.Popen(
        argv,
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        yield process
    finally:
        process.terminate()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def _measure(bench: Bench) -> Iterator[Row]:
    for tasks in bench.sizes(10, 100, 1_000, quick=2):
        steps = tasks * 20  # half of them in the active task
        bench.say(f"making a home of {tasks:,} tasks and {steps:,} steps")
        home = homes.make(bench, tasks=tasks, steps=steps)
        lines = LINES * tasks // 1_000
        script = _LARGE.replace(f"range({LINES // _FILES})", f"range({max(1, lines // _FILES)})")
        bench.run(
            [bench.siding, "run", "-q", "--", bench.python, "-c", script],
            cwd=home.repository,
            env=home.env,
        )
        number = steps // 2 + 1
        pages = {
            "board": ("/", f"a board of {tasks:,} tasks", tasks),
            "task": (f"/tasks/{home.active}", f"a task of {number:,} steps", number),
            "patch": (
                f"/tasks/{home.active}/steps/{number}",
                f"a step with a patch of {lines:,} lines",
                lines,
            ),
            "files": (
                f"/tasks/{home.active}/steps/{number}/files",
                f"the files of a patch of {lines:,} lines",
                lines,
            ),
        }
        with dashboard(bench, home.repository, home.env) as server:
            usable = _usable(server, {name: page[0] for name, page in pages.items()})
            for name, (path, case, size) in pages.items():
                yield _row(bench, server, name, path, case, size, usable.get(name))


def _row(
    bench: Bench,
    server: Server,
    name: str,
    path: str,
    case: str,
    size: int,
    usable: float | None,
) -> Row:
    """Ask for a page and for a file of the same bytes, in turns."""
    number = iter(range(1_000_000))
    directory = bench.scratch(f"static-{name}-{size}")
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    connection.request("GET", f"/view{path}", headers=server.headers)
    data = connection.getresponse().read()
    connection.close()
    (directory / "page.html").write_bytes(data)

    # A question nobody asked before: what is remembered for many viewers does not answer it.
    def fresh() -> Sample:
        return server.request(f"/view{path}?n={next(number)}")

    before = rss_mb(server.process.pid)
    with _files(directory) as files:
        file: Run = lambda: files.request("/page.html")  # noqa: E731
        ours, floor = side_by_side([fresh, file], rounds=bench.rounds(30, quick=9), warm_ups=2)
    after = rss_mb(server.process.pid)
    over = ours.median_ms - floor.median_ms
    told = [
        f"first byte {over:.1f} ms over the file ({_verdict(over < OVER_MS)}, goal {OVER_MS:g})",
        f"{len(data) / 1024:.0f} KiB",
        f"memory {before:.0f} -> {after:.0f} MB",
    ]
    if usable is not None:
        met = _verdict(usable < USABLE_MS)
        told.insert(1, f"usable in a browser after {usable:.0f} ms ({met}, goal {USABLE_MS:g})")
    return Row(name, case, size, ours, floor, "static file", note="; ".join(told))


def _verdict(met: bool) -> str:
    return "met" if met else "MISS"


def _usable(server: Server, pages: Mapping[str, str]) -> dict[str, float]:
    """Return after how many ms a page is shown in Chromium, medians; {} where there is none."""
    import shutil
    from statistics import median

    chromium = shutil.which("chromium")
    if chromium is None:
        return {}
    from playwright.sync_api import sync_playwright

    key = server.headers["Authorization"].removeprefix("Bearer ")
    found: dict[str, float] = {}
    with sync_playwright() as playwright:
        switches = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path=chromium, args=switches)
        page = browser.new_page()
        page.goto(f"http://127.0.0.1:{server.port}/#key={key}")
        for name, path in pages.items():
            if name == "files":
                continue
            times = []
            for _ in range(6):
                page.goto(f"http://127.0.0.1:{server.port}{path}")
                page.wait_for_selector("main[aria-busy=false]")
                asked = "performance.getEntriesByName('siding:shown')[0].startTime"
                times.append(float(page.evaluate(asked)))
            found[name] = median(times[1:])
        browser.close()
    return found


FIGURE = Figure(
    title="the dashboard's pages",
    goal="first byte at most 30 ms over the floor, usable within 300 ms, flat memory",
    floor="a static file of the same bytes, by http.server of the standard library",
    follows="what a page shows, never what there is: of long lists and patches a window; the "
    "board looks at every task's stamps",
    measure=_measure,
)
