"""Planted faults never outlive the test that planted them."""

from collections.abc import Iterator

import pytest

from siding.storage import faults


@pytest.fixture(autouse=True)
def _no_planted_faults() -> Iterator[None]:
    yield
    faults.enable(())
