"""The table of the dashboard: which names are topics, and that each address has one handler."""

from typing import NoReturn

import pytest

from siding.faces.web.live import Hub
from siding.faces.web.table import OPERATIONS, PAGES, PIECES, SHARED, TOPICS
from siding.record.place.wiring import Listeners

RUN = "w0jrhhal1"


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("project", True),
        ("project.x", False),
        ("workflows", True),
        ("workflows.x", False),
        ("output.task.12.stdout", True),
        ("output.task.r12.stdout", True),
        ("output.task.12", False),
        ("output.task.x.stdout", False),
        ("output.task.12345678901.stdout", False),
        (f"workflow.{RUN}.tokens", True),
        (f"workflow.{RUN}.dollars", True),
        (f"workflow.{RUN}.apples", False),
        ("workflow.../.tokens", False),
        ("", False),
        ("nothing", False),
    ],
)
def test_only_these_are_names_of_topics(name: str, is_one: bool) -> None:
    def no_project() -> NoReturn:
        raise AssertionError("nothing is looked at yet")

    assert Hub(no_project, Listeners(), TOPICS).knows(name) is is_one


def test_no_address_has_two_meanings() -> None:
    assert not PAGES.keys() & PIECES.keys()
    assert PAGES.keys() >= SHARED
    named = [(each.method, each.path) for each in OPERATIONS]
    assert len(named) == len(set(named))
    assert all((each.read is None) != (each.write is None) for each in OPERATIONS)
