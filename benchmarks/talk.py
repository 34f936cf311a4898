"""Lines of a conversation's story on the terminal's screen: the fold, the rows, and a frame."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.bench import Bench, Figure, Goal, Row
from benchmarks.measure import Sample, Timing

_MORE, _ALL, _MEMORY = 10, 200, 180
_NAMES = {
    "append": ("a line more", _MORE),
    "call": ("a tool more", _MORE),
    "fence": ("12 letters into a fence of 2,000 lines", _MORE),
    "all": ("fold all, and search all", _ALL),
}


def _measure(bench: Bench) -> Iterator[Row]:
    floor = _timing(_worked(bench, 0)["append"])
    for count in bench.sizes(10_000, 20_000):
        found = _worked(bench, count)
        for what, (name, most) in _NAMES.items():
            timing = _timing(found[what], found["rss_mb"])
            times = sorted(clock for clock, _ in found[what])
            note = f"p50 {times[len(times) // 2]:.1f}, p95 {times[len(times) * 95 // 100]:.1f} ms"
            case = f"story of {count:,} lines at 100x30: {name}"
            yield Row(what, case, count, timing, floor, "empty frame", most, Goal.P95, note)
        timing = _timing([(0.0, 0.0)], found["rss_mb"])
        case = f"story of {count:,} lines: memory"
        note = f"{found['rss_mb']:.0f} MB of the whole process, {found['lines']:,} lines"
        yield Row("memory", case, count, timing, floor, "empty frame", _MEMORY, Goal.MEMORY, note)


def _timing(times: list[tuple[float, float]], rss_mb: float = 0.0) -> Timing:
    return Timing(tuple(Sample(wall_ms=a, cpu_ms=b, rss_mb=rss_mb) for a, b in times))


def _worked(bench: Bench, count: int) -> dict[str, Any]:
    words = [str(each) for each in (count, 100, 30)]
    command = [str(bench.python), "-m", "benchmarks.talk_worker", *words]
    found = json.loads(bench.run(command, cwd=Path.cwd()))
    assert isinstance(found, dict)
    return found


FIGURE = Figure(
    title="a conversation on the terminal's screen",
    goal="p95 of a line more, a tool more, and 12 letters into a fence of 2,000 lines 10 ms; all "
    "folded or searched 200 ms; the process 180 MB",
    floor="a frame of the same size of a widget that draws nothing",
    follows="a line more: rows on the screen. Folding and searching: lines",
    measure=_measure,
)
