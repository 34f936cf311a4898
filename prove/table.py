"""The table: a line for each row, how to repeat it, and what went wrong in full."""

import textwrap
from collections.abc import Mapping

from prove.compared import NAME, PROVES
from prove.row import Outcome
from prove.rows import ROWS

_WIDTHS = (10, 7, 7, 7, 12, 6)


def heading() -> str:
    """Return what stands above the rows."""
    return _line(("row", "cases", "passed", "time", "seed", ""))


def line(name: str, outcome: Outcome, seed: int | None) -> str:
    """Return a row: what it is, what came out, how to repeat it."""
    proves = PROVES if name == NAME else ROWS[name].proves
    numbers = _line(
        (
            name,
            str(outcome.cases),
            str(outcome.passed),
            f"{outcome.seconds:.0f} s",
            "-" if seed is None else str(seed),
            "ok" if outcome.holds else "FAILED",
        )
    )
    again = f"python3 run.py prove --only {name}" + ("" if seed is None else f" --seed {seed}")
    note = f" ({outcome.note})" if outcome.note else ""
    text = f"{numbers}\n    {proves}{note}\n    {again}"
    if outcome.details:
        text += "\n\n" + textwrap.indent(outcome.details, "    ") + "\n"
    return text + (f"\n{outcome.problem}" if outcome.problem else "")


def ending(outcomes: Mapping[str, Outcome], seconds: float) -> str:
    """Return the last line."""
    failed = [name for name, outcome in outcomes.items() if not outcome.holds]
    cases = sum(outcome.cases for outcome in outcomes.values())
    verdict = f"FAILED: {', '.join(failed)}" if failed else "every case passed"
    return f"\n{len(outcomes)} rows, {cases} cases, {seconds:.0f} s: {verdict}"


def _line(cells: tuple[str, ...]) -> str:
    first, *rest = zip(cells, _WIDTHS, strict=True)
    return f"{first[0]:<{first[1]}}" + "".join(f"{cell:>{width + 2}}" for cell, width in rest)
