"""What the gates keep while the tests of this directory run, and take away after them."""

from collections.abc import Iterator

import pytest

from .arena import scratch
from .copies import remove_tree


@pytest.fixture(scope="session", autouse=True)
def _scratch_is_removed() -> Iterator[None]:
    yield
    remove_tree(scratch())
