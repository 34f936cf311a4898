"""A task to plan acts for."""

import pytest

from prepared import prepared

from ..undo.desk import Desk


@pytest.fixture
def desk() -> Desk:
    """A task whose workspace holds hello.txt and src/a.py, and no step yet."""
    return Desk.at(prepared(Desk))
