"""Places to run commands in. Nothing may be left running after a test."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from .world import Place


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """A folder and a token; a test that leaves a process of it behind has failed."""
    place = Place(tmp_path, token=f"test-{os.getpid()}-{tmp_path.name}")
    yield place
    left = place.living()
    place.end()
    assert not left
    assert not place.living()
