"""A desk to work at."""

import pytest

from sandbox import Sandbox

from .desk import Desk


@pytest.fixture
def desk(sandbox: Sandbox) -> Desk:
    """A task whose workspace holds hello.txt and src/a.py, and no step yet."""
    return Desk(sandbox)
