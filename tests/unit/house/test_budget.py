"""What the commands of every day load, start and flush: counted, and no more than today.

The goals are lower (`tools/house/goals.py`). Whoever comes below a figure lowers it here.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tools.house.goals import Limit, figures, shown
from tools.house.loaded import case_of, measure, measure_long
from tools.house.scratch import Scratch, scratch

import siding

TODAY = {
    "run -- true": Limit(188, 2_073, git=3, fsyncs=14, patterns=16),
    "apply --no-close": Limit(179, 2_253, others=65, git=12, fsyncs=35),
    "undo": Limit(167, 1_919, git=7, fsyncs=32, patterns=16),
    "rollback --step 1": Limit(165, 1_898, git=7, fsyncs=32, patterns=16),
    "status": Limit(83, 787, git=1, patterns=4),
    "log": Limit(65, 581, patterns=3),
    "diff --stat": Limit(79, 831, git=2, patterns=4),
    "task list": Limit(52, 426, patterns=2),
    "workflow list": Limit(76, 710, git=0, patterns=3),
    "run --help": Limit(20, 110, others=38, patterns=0),
    "undo --help": Limit(21, 105, others=38, patterns=0),
    "undo --no-such-option": Limit(21, 105, others=38, patterns=0),
}
PARSED = {"status": 201, "log": 300}  # lines of a ledger of 1,000


@pytest.fixture(scope="module")
def place() -> Iterator[Scratch]:
    with scratch(Path(siding.__file__).parents[1], files=30) as found:
        yield found


@pytest.mark.parametrize("name", TODAY)
def test_a_command_costs_no_more_than_today(place: Scratch, name: str) -> None:
    found, limit = figures(measure(place, case_of(name))), TODAY[name]
    beyond = [
        f"{what}: {shown(figure)}, and at most {shown(most)}"
        for what, figure in found.items()
        if (most := getattr(limit, what)) is not None and figure > most
    ]
    assert beyond == []
    assert found["modules"] > 10


def test_a_long_ledger_is_not_read_whole(place: Scratch) -> None:
    found = {name: loaded.parsed for name, loaded in measure_long(place).items()}
    assert all(0 < found[name] <= most for name, most in PARSED.items()), found
