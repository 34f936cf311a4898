"""The table of ``siding usage --wire``."""

from collections.abc import Sequence
from typing import Any

from siding.faces.cli.screen.screen import Screen, inert
from siding.usage.metered import MeteredRun

_HEADS = (
    *("TASK", "STEP", "RUN", "REQUESTS", "FAILED", "CUT", "RETRIES"),
    *("INPUT", "CACHE READ", "CACHE WRITE", "OUTPUT", "AGENT SAYS"),
)


def print_metered(screen: Screen, runs: Sequence[MeteredRun]) -> None:
    screen.table(_HEADS, [_cells(each) for each in runs])


def metered_record(run: MeteredRun) -> dict[str, Any]:
    """Return a run as JSON and CSV have it."""
    said = run.said
    return {
        "task": run.task,
        "step": run.step,
        "run": run.run,
        "started_at": run.started_at,
        **{name: getattr(run.wire, name) for name in ("requests", "failed", "cut", "retries")},
        **run.tokens._asdict(),
        "agent_says": None if said is None else said.total,
        "difference": run.difference,
    }


def _cells(run: MeteredRun) -> tuple[str, ...]:
    wire, tokens = run.wire, run.tokens
    counts = (wire.requests, wire.failed, wire.cut, wire.retries)
    written = tokens.cache_write_5m + tokens.cache_write_1h
    used = (tokens.input, tokens.cache_read, written, tokens.output)
    if run.said is None:
        said = "-"
    else:
        said = run.difference.removeprefix("on the wire ").removesuffix(" than its transcript says")
        said = f"wire has {said}" if said else "the same"
    return (
        inert(run.task),
        run.step,
        run.run,
        *(f"{count:,}" for count in (*counts, *used)),
        said,
    )
