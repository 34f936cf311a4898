"""Worlds for the tests of the git package."""

from pathlib import Path

import pytest

from .moving import Ready, ready_in
from .world import World


@pytest.fixture(scope="session")
def _begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository that these worlds begin with: a copy is cheaper than git."""
    made = World(tmp_path_factory.mktemp("begun") / "world")
    made.commit({"a.txt": "one\n", "src/b.txt": "two\n", "src/deep/c.txt": "three\n"})
    for sample in (made.root / ".git/hooks").glob("*.sample"):
        sample.unlink()
    return made.root


@pytest.fixture
def world(tmp_path: Path, _begun: Path) -> World:
    """A repository with a few files in one commit, and no task yet."""
    return World(tmp_path / "world", begun=_begun)


@pytest.fixture
def task(world: World) -> World:
    """The same, with a task whose worktree is there and whose snapshots have begun."""
    world.start()
    return world


@pytest.fixture
def ready(world: World) -> Ready:
    """A branch that is to move with its checkout."""
    return ready_in(world)
