"""What a session leaves running ends with its test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from .sessions import end_what_lives


@pytest.fixture(autouse=True)
def _nothing_lives_on(tmp_path: Path) -> Iterator[None]:
    yield
    end_what_lives(tmp_path)
