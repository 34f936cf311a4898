"""Limits of usage: how they are written, and what counts to the one of a run."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from integration.undo.desk import Desk
from integration.usage import homes
from siding.usage.limits import Amount, UsageLimits, amount_in
from siding.usage.reached import Place, measure

BEGAN = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "amount"),
    [
        (5_000, Amount(tokens=5_000)),
        ("5k", Amount(tokens=5_000)),
        ("1.5k", Amount(tokens=1_500)),
        ("1_500", Amount(tokens=1_500)),
        ("$2.50", Amount(dollars=2.5)),
        (["5k", "$2"], Amount(tokens=5_000, dollars=2.0)),
        (1.5, None),  # `1.5` of what?
        (["5k", 1.5], None),
        (True, None),
        (None, None),
        ({"tokens": 5}, None),
        ([], None),
        (0, None),
    ],
)
def test_an_amount(said: object, amount: Amount | None) -> None:
    assert amount_in(said) == amount


def test_a_call_of_the_moment_in_which_a_run_began_counts_to_it_and_an_earlier_one_does_not(
    desk: Desk,
) -> None:
    """The record of a run is written a moment after its first call may have been."""
    calls = {"11:59:58.000": 1_000, "11:59:59.500": 200, "12:00:00.500": 30}
    lines = [
        homes.answered(f"2026-01-01T{at}Z", f"m{tokens}", tokens) for at, tokens in calls.items()
    ]
    homes.claude(Path(desk.sandbox.env["HOME"]), homes.CLAUDE, lines)
    homes.claude(Path(desk.sandbox.env["HOME"]), homes.FORK, lines[2:])
    began = int(BEGAN.timestamp() * 1000)
    place = Place("work", desk.root, sessions=(homes.CLAUDE,), began=began)
    used = measure(desk.project.app, place, UsageLimits(run=Amount(tokens=1)))
    assert used.run.tokens == 200 + 30 + 2 * 10
    assert json.dumps(used.task) == json.dumps([0, 0.0, 0]), "nothing limits it"
