"""Scenes for the tests of the built-in agent."""

from pathlib import Path

import pytest

from .scenes import Scene


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    """An empty directory as the workspace, and an empty home."""
    return Scene(tmp_path)
