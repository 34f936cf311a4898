"""A task in a real repository, and the terminal's screen of it."""

import pytest

from prepared import prepared

from ..undo.desk import Desk
from .task_screen import TaskScreen


@pytest.fixture
def desk() -> Desk:
    """A task whose workspace holds hello.txt and src/a.py, and no step yet."""
    return Desk.at(prepared(Desk))


@pytest.fixture
def screen(desk: Desk) -> TaskScreen:
    return TaskScreen(desk)
