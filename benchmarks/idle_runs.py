"""F15: what runs in the background cost while nothing happens in them."""

import json
import re
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from benchmarks.bench import Bench, Figure, Goal, Row
from benchmarks.measure import Sample, Timing

MEMORY_MB = 12
SETTLED_S = 3
IDLE_S = 10
FILES = 200
_TICKS_A_SECOND = 100  # USER_HZ, which is what /proc counts in


def _measure(bench: Bench) -> Iterator[Row]:
    if not Path("/proc/self/smaps_rollup").exists():
        bench.say("F15 reads /proc, which this system does not have")
        return
    for runs in bench.sizes(1, 20, 200, quick=2):
        with bench.task(f"idle-{runs}", FILES) as (workspace, env):
            begin: list[str | Path] = [bench.siding, "run", "--detach", "--", "sleep", "3600"]
            for _ in range(runs):
                bench.run(begin, cwd=workspace, env=env)
            time.sleep(SETTLED_S)
            found = _processes(Path(env["SIDING_HOME"]))
            ours, commands = zip(*found, strict=True)
            sample, floor = _sample([pid for pair in ours for pid in pair]), _sample(commands)
            bench.run([bench.siding, "stop", "--all"], cwd=workspace, env=env)
        each = sample._replace(rss_mb=sample.rss_mb / runs)
        note = (
            f"{each.rss_mb:.1f} MB for each host and keeper, shared pages divided; "
            f"{sample.cpu_ms:.0f} ms of processor time in {IDLE_S} s for all of them"
        )
        yield Row(
            "idle",
            f"{runs} idle run{'s' * (runs > 1)}",
            runs,
            Timing((each,)),
            Timing((floor,)),
            "the commands alone",
            MEMORY_MB,
            Goal.MEMORY,
            note,
        )


def _processes(home: Path) -> list[tuple[tuple[int, int], int]]:
    """Return host and keeper, and the command, of each run that lives."""
    records = home.glob("projects/*/tasks/*/runs/*.json")
    runs = [json.loads(path.read_text(encoding="utf-8")) for path in records]
    return [((r["host"]["pid"], r["keeper"]["pid"]), r["command"]["pid"]) for r in runs]


def _sample(pids: Iterable[int]) -> Sample:
    """Watch the processes for a while; return their processor time and their memory."""
    pids = list(pids)
    begun, spent = time.perf_counter(), time_of(pids)
    time.sleep(IDLE_S)
    return Sample(
        wall_ms=(time.perf_counter() - begun) * 1e3,
        cpu_ms=time_of(pids) - spent,
        rss_mb=sum(map(memory_of, pids)),
    )


def time_of(pids: Iterable[int]) -> float:
    """Return the processor time that the processes have used, in milliseconds."""
    fields = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in pids]
    return sum(int(each[11]) + int(each[12]) for each in fields) * 1e3 / _TICKS_A_SECOND


def memory_of(pid: int) -> float:
    """Return the proportional set size: memory of its own, and its share of what is shared."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    found = re.search(r"^Pss: *(\d+) kB", text, re.MULTILINE)
    assert found is not None
    return int(found[1]) / 1024


FIGURE = Figure(
    title="runs in the background, idle",
    goal="at most 12 MB for host and keeper together; no measurable processor time",
    floor="the commands alone",
    follows="the runs: each has a host and a keeper of its own",
    measure=_measure,
)
