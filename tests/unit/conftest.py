"""A task to work on through the application, in this process."""

import pytest

from integration.undo.desk import Desk
from prepared import prepared


@pytest.fixture
def desk() -> Desk:
    """A task with a workspace, in a real repository and a home of its own."""
    return Desk.at(prepared(Desk))
