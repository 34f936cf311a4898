"""Worlds for the tests of the git package."""

from pathlib import Path

import pytest

from .moving import Ready, ready_in
from .world import World


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A repository with a few files in one commit, and no task yet."""
    made = World(tmp_path / "world")
    made.commit({"a.txt": "one\n", "src/b.txt": "two\n", "src/deep/c.txt": "three\n"})
    return made


@pytest.fixture
def task(world: World) -> World:
    """The same, with a task whose worktree is there and whose snapshots have begun."""
    world.start()
    return world


@pytest.fixture
def ready(world: World) -> Ready:
    """A branch that is to move with its checkout."""
    return ready_in(world)
