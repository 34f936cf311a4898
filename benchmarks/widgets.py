"""Frames of the terminal's widgets of rows: a key, and the changed screen as text."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.bench import Bench, Figure, Goal, Row
from benchmarks.measure import Sample, Timing

FRAME, LARGE_FRAME, APPEND, RESIZE, MEMORY = 16.7, 33, 10, 150, 180
_SCREENS = ((100, 30, FRAME), (300, 80, LARGE_FRAME))
_GOALS = {"append": APPEND, "grow": APPEND, "fence": APPEND, "resize": RESIZE}
_NAMES = {
    "line": "scroll by a line",
    "page": "by a page",
    "jump": "to anywhere",
    "append": "a line more at the end",
    "grow": "a word more at the end",
    "fence": "12 letters into a fence of 2,000 lines",
    "resize": "100 to 60 columns and back",
}


def _measure(bench: Bench) -> Iterator[Row]:
    for width, height, goal in _SCREENS:
        floor = _timing(_worked(bench, "empty", 0, width, height)["line"])
        for widget in ("transcript", "patch", "list"):
            for count in bench.sizes(10_000, 100_000):
                found = _worked(bench, widget, count, width, height)
                yield from _rows(widget, count, f"{width}x{height}", goal, found, floor)


def _rows(
    widget: str, count: int, screen: str, goal: float, found: dict[str, Any], floor: Timing
) -> Iterator[Row]:
    for what, name in _NAMES.items():
        if what not in found:
            continue
        timing = _timing(found[what], found["rss_mb"])
        case = f"{widget}, {count:,} at {screen}: {name}"
        shown = f"{_spread(clock for clock, _ in found[what])} ms by the clock"
        shown += f"; {_spread(processor for _, processor in found[what])} of the processor"
        series, most = f"{widget} {screen} {what}", _GOALS.get(what, goal)
        yield Row(series, case, count, timing, floor, "empty frame", most, Goal.P95, shown)
    timing = _timing([(found["made_ms"], 0.0)], found["rss_mb"])
    case = f"{widget}, {count:,} at {screen}: filled, memory"
    note = f"{found['made_ms']:.0f} ms to fill it, {found['rss_mb']:.0f} MB of the whole process"
    yield Row("filled", case, count, timing, floor, "empty frame", MEMORY, Goal.MEMORY, note)


def _spread(times: Iterable[float]) -> str:
    found = sorted(times)
    middle, most = found[len(found) // 2], found[min(len(found) - 1, len(found) * 95 // 100)]
    return f"p50 {middle:.1f}, p95 {most:.1f}, max {found[-1]:.1f}"


def _timing(times: list[tuple[float, float]], rss_mb: float = 0.0) -> Timing:
    return Timing(tuple(Sample(wall_ms=a, cpu_ms=b, rss_mb=rss_mb) for a, b in times))


def _worked(bench: Bench, widget: str, count: int, width: int, height: int) -> dict[str, Any]:
    words = [str(each) for each in (widget, count, width, height)]
    command = [str(bench.python), "-m", "benchmarks.widgets_worker", *words]
    found = json.loads(bench.run(command, cwd=Path.cwd()))
    assert isinstance(found, dict)
    return found


FIGURE = Figure(
    title="frames of the terminal's transcript, patch and list",
    goal="p95 of a frame 16.7 ms at 100x30, 33 ms at 300x80, the same at ten times the lines; "
    "a line more 10 ms; another width 150 ms; the process 180 MB",
    floor="a frame of the same size of a widget that draws nothing",
    follows="a frame: rows on the screen. Filling: items. Another width: rows near the screen",
    measure=_measure,
)
