"""The table: ratios first, what they are made of beside them."""

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import Any

from benchmarks.bench import Figure, Goal, Row
from benchmarks.measure import Timing

_HEAD = ("", "ours, ms (min)", "floor, ms (min)", "ratio", "of min", "of cpu", "goal", "")
_WIDTHS = (58, 18, 18, 8, 8, 8, 8, 4)


def heading(name: str, figure: Figure) -> str:
    """Return what stands above a figure's rows."""
    return (
        f"\n{name}  {figure.title}\n    goal   {figure.goal}\n    floor  {figure.floor}\n"
        + _line(_HEAD)
    )


def line(row: Row) -> str:
    """Return one row."""
    verdict = {True: "met", False: "MISS", None: ""}[row.meets_goal]
    text = _line(
        (
            row.case,
            _spread(row.ours),
            _spread(row.floor),
            _ratio(row.ratio),
            _ratio(row.ratio_of_minima),
            _ratio(row.ratio_of_cpu),
            row.shown_goal,
            verdict,
        )
    )
    over = f"{row.over_ms:+.1f} ms over the floor" if row.bounds is Goal.OVER else ""
    notes = "; ".join(filter(None, (over, row.note)))
    return f"{text}\n        {notes}" if notes else text


def curves(figure: Figure, rows: Iterable[Row]) -> str:
    """Return how each series grew from its smallest to its largest size, ours and the floor."""
    series: dict[str, list[Row]] = {}
    for row in rows:
        series.setdefault(row.series, []).append(row)
    text = [f"    follows {figure.follows}"]
    for name, found in series.items():
        if len(found) < 2:
            continue
        first, last = found[0], found[-1]
        ours = _growth(first.ours.median_ms, last.ours.median_ms)
        floor = _growth(first.floor.median_ms, last.floor.median_ms)
        text.append(
            f"    {name}: size x{_growth(first.size, last.size)}, ours x{ours}, floor x{floor}"
        )
    return "\n".join(text)


def _growth(first: float, last: float) -> str:
    """Return how many times larger the last figure is; "?" where the first one is nothing."""
    return f"{last / first:.2g}" if first else "?"


def record(name: str, figure: Figure, rows: Sequence[Row]) -> dict[str, Any]:
    """Return a figure for the JSON file, every sample included."""
    return {
        "figure": name,
        "title": figure.title,
        "goal": figure.goal,
        "floor": figure.floor,
        "rows": [_record_of(row) for row in rows],
    }


def _record_of(row: Row) -> Mapping[str, Any]:
    return {
        "case": row.case,
        "series": row.series,
        "size": row.size,
        "ratio": _finite(row.ratio),
        "ratio_of_minima": _finite(row.ratio_of_minima),
        "ratio_of_cpu": _finite(row.ratio_of_cpu),
        "goal": row.shown_goal,
        "met": row.meets_goal,
        "note": row.note,
        "floor": row.floor_name,
        "ours_samples": [sample._asdict() for sample in row.ours.samples],
        "floor_samples": [sample._asdict() for sample in row.floor.samples],
    }


def _line(cells: Sequence[str]) -> str:
    shown = [
        cell.ljust(width) if position == 0 else cell.rjust(width)
        for position, (cell, width) in enumerate(zip(cells, _WIDTHS, strict=True))
    ]
    return "    " + " ".join(shown).rstrip()


def _spread(timing: Timing) -> str:
    return f"{_ms(timing.median_ms)} ({_ms(timing.min_ms)})"


def _ms(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def _finite(ratio: float) -> float | None:
    """Return a ratio as JSON knows it: None where the floor was nothing."""
    return ratio if isfinite(ratio) else None


def _ratio(value: float) -> str:
    if not isfinite(value):
        return "?"
    return f"{value:.3f}x" if value < 0.1 else f"{value:.2f}x"
