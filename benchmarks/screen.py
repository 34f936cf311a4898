"""The screen of the terminal: how soon it is there, how soon it follows a key, and its cost."""

import json
import re
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from time import perf_counter_ns

from benchmarks import homes
from benchmarks.bench import Bench, Figure, Goal, Row
from benchmarks.dashboard import cpu_ms, rss_mb
from benchmarks.feed import awaited_faults
from benchmarks.measure import Sample, Timing, command, side_by_side
from benchmarks.sitting import Sitting
from siding.feed.model import Row as FeedRow
from siding.feed.model import State
from siding.feed.state import ordered
from siding.ground.storage.layout import ProjectLayout
from siding.record.tasks.store import TaskStore

PAINT_MS, KEY_MS = 400, 50
PROJECTS, TASKS, STEPS = 10, 30, 60  # of each: 300 tasks in all
RUNS, LINES_A_SECOND = 10, 200
_SCREEN = b"\x1b[?1003h"  # the screen itself: before it, what was drawn by hand
_FED = f"{PROJECTS * TASKS} rest".encode()  # in its first line
_SETTLED_S, _IDLE_S = 5, 20
_PRINTS = f"""
import time
n = 0
while True:
    n += 1
    print("line", n, "of a run that tells how it gets on", flush=True)
    time.sleep({1 / LINES_A_SECOND})
"""


def _measure(bench: Bench) -> Iterator[Row]:
    repository, env = _home(bench)
    bare = side_by_side(
        [command([bench.python, "-c", "import textual.app"], env=env, cwd=repository)],
        rounds=bench.rounds(10),
        warm_ups=1,
    )[0]
    first, whole = _paints(bench, repository, env)
    case = f"{PROJECTS} projects, {PROJECTS * TASKS} tasks"
    floor = "import textual.app"
    yield Row("first frame", f"first frame, {case}", 1, first, bare, floor)
    yield Row("paint", f"the screen, {case}", 1, whole, bare, floor, PAINT_MS, Goal.P95)
    idle = _idle(bench, repository, env)
    quiet = _keys(bench, repository, env)
    yield Row("key", "a key, nothing runs", 1, quiet, quiet, "itself", KEY_MS, Goal.P95, idle)
    _start_runs(bench, repository, env)
    busy = _keys(bench, repository, env)
    for run in _running(bench, repository, env):
        words: list[str | Path] = [bench.siding, "stop", run["run"], "-t", run["task"], "--now"]
        bench.run(words, cwd=repository, env=env)
    case = f"a key, {RUNS} runs that print {LINES_A_SECOND} lines a second"
    yield Row("key", case, RUNS, busy, quiet, "nothing runs", KEY_MS, Goal.P95)


def _home(bench: Bench) -> tuple[Path, dict[str, str]]:
    env = bench.home("screen")
    usual = bench.repository(homes.FILES)
    for number in range(PROJECTS):
        repository = bench.scratch(f"screens{number}") / "project"
        bench.run(["git", "clone", "-q", str(usual), str(repository)], cwd=usual, env=env)
        bench.run([bench.siding, "run", "--new", "real", "--", "true"], cwd=repository, env=env)
    for root in (Path(env["SIDING_HOME"]) / "projects").iterdir():
        layout = ProjectLayout(root)
        (real,) = TaskStore(layout).ids()
        homes.fill(layout, real, tasks=TASKS, steps=STEPS, long=2)
    begun = Path(env["SIDING_HOME"]) / "terminal"
    begun.mkdir(exist_ok=True)
    (begun / "begun").touch()
    return repository, env


def _sit(bench: Bench, repository: Path, env: dict[str, str]) -> Sitting:
    return Sitting([str(bench.siding)], cwd=repository, env=env)


def _until_there(sitting: Sitting) -> int:
    """Watch until the screen itself has the feed; return the moment."""
    sitting.until(_SCREEN)
    sitting.seen = sitting.seen.partition(_SCREEN)[2]
    return sitting.until(_FED)


def _paints(bench: Bench, repository: Path, env: dict[str, str]) -> tuple[Timing, Timing]:
    """Return the times to the first frame and to the screen with its rows, warm."""
    firsts, wholes = [], []
    for number in range(bench.rounds(21, quick=4)):
        with _sit(bench, repository, env) as sitting:
            first = sitting.until(b"\x1b[2J")
            whole = _until_there(sitting)
        if number:  # the first one made the hub
            firsts.append(Sample((first - sitting.begun) / 1e6, 0))
            wholes.append(Sample((whole - sitting.begun) / 1e6, 0))
    return Timing(tuple(firsts)), Timing(tuple(wholes))


def _keys(bench: Bench, repository: Path, env: dict[str, str]) -> Timing:
    """Return the times from a key to the cursor on the row above, over the rows that rest."""
    names = _resting(bench, repository, env)
    samples = []
    with _sit(bench, repository, env) as sitting:
        _until_there(sitting)
        sitting.timed_key(b"z", b"RESTS")
        sitting.timed_key(b"G", _cursor_on(names[-1]))
        left = bench.rounds(200, quick=20)
        for below, name in pairwise(reversed(names)):
            took = sitting.timed_key(b"k", _cursor_on(name))
            if name != below:  # else a row that is only drawn again looks the same
                samples.append(Sample(took, 0))
                left -= 1
            if not left:
                break
    return Timing(tuple(samples))


def _resting(bench: Bench, repository: Path, env: dict[str, str]) -> list[str]:
    """Return the names of the tasks that rest, as they stand on the screen."""
    words: list[str | Path] = [bench.siding, "status", "--all", "--json"]
    said = json.loads(bench.run(words, cwd=repository, env=env))
    rows = ordered(FeedRow.from_record(each) for each in said["feed"]["rows"])
    return [row.name for row in rows if row.state is State.RESTS]


def _cursor_on(name: str) -> re.Pattern[bytes]:
    """Return what is written where the cursor is drawn on a row: one line, in some colours."""
    return re.compile(rb">(?:[^\x00-\x1f>]|\x1b\[[0-9;]*m)*" + re.escape(f"{name} ".encode()))


def _idle(bench: Bench, repository: Path, env: dict[str, str]) -> str:
    with _sit(bench, repository, env) as sitting:
        _until_there(sitting)
        sitting.watch(_SETTLED_S)
        pid = sitting.process.pid
        faults, spent, begun = awaited_faults(pid), cpu_ms(pid), perf_counter_ns()
        sitting.watch(_IDLE_S)
        share = (cpu_ms(pid) - spent) / ((perf_counter_ns() - begun) / 1e6) * 100
        memory = rss_mb(pid)
        started = "processes started" if awaited_faults(pid) != faults else "no process started"
    return f"idle {share:.2f} % of a core, {started}, {memory:.0f} MB"


def _start_runs(bench: Bench, repository: Path, env: dict[str, str]) -> None:
    words: list[str | Path] = [bench.siding, "run", "-q", "--detach", "--new"]
    for number in range(RUNS):
        argv = [*words, f"prints{number}", "--", bench.python, "-c", _PRINTS]
        bench.run(argv, cwd=repository, env=env)
    end = time.monotonic() + 30
    while time.monotonic() < end:
        if len(_running(bench, repository, env)) >= RUNS:
            return
    raise RuntimeError("the runs did not start")


def _running(bench: Bench, repository: Path, env: dict[str, str]) -> list[dict[str, str]]:
    said = bench.run([bench.siding, "runs", "--json"], cwd=repository, env=env)
    found = json.loads(said)
    assert isinstance(found, list)
    return found


FIGURE = Figure(
    title="the screen of the terminal",
    goal=f"on the screen in {PAINT_MS} ms, from key to screen in {KEY_MS} (both p95); idle 0.5 %",
    floor="Textual's own import; the same screen while nothing runs",
    follows="nothing here: rows beyond the screen are not drawn; a key goes over those that rest",
    measure=_measure,
)
