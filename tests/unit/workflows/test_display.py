"""Numbers and phases of a run as they are shown."""

import pytest

from siding.workflows.display import format_dollars, format_duration, merge_phases


@pytest.mark.parametrize(
    ("milliseconds", "shown"),
    [(0, "0s"), (-5, "0s"), (59_999, "59s"), (60_000, "1m00s"), (7_385_000, "2h03m")],
)
def test_durations(milliseconds: int, shown: str) -> None:
    assert format_duration(milliseconds) == shown


def test_dollars() -> None:
    assert [format_dollars(each) for each in (0.0123, 1, 1234.5)] == [
        "$0.0123",
        "$1.00",
        "$1,234.50",
    ]


def test_phases_come_as_declared_then_as_opened_then_those_that_agents_name() -> None:
    rows = merge_phases(
        ["Scan", "Fix"],
        [("Extra", "running"), ("Fix", "running")],
        [("X", "running"), ("X", "done"), ("Fix", "done"), ("", "done")],
    )
    assert [(row.title, row.status, row.done, row.total) for row in rows] == [
        ("Scan", "pending", 0, 0),
        ("Fix", "done", 1, 1),  # all its agents are done, though nobody has closed it
        ("Extra", "running", 0, 0),
        ("X", "running", 1, 2),
    ]


def test_a_phase_that_was_closed_is_done_whatever_its_agents_are() -> None:
    (row,) = merge_phases([], [("A", "done")], [("A", "running")])
    assert (row.status, row.done, row.total) == ("done", 0, 1)
