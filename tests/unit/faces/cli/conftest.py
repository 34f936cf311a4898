"""A task of its own, and the command line in its repository."""

from pathlib import Path

import pytest

from integration.undo.desk import Desk
from prepared import prepared
from sandbox import Sandbox
from unit.faces.cli.in_process import CommandLine


@pytest.fixture
def sandbox(request: pytest.FixtureRequest, tmp_path: Path) -> Sandbox:
    """A repository with one commit; where a test has a desk, that of the desk."""
    return prepared(Desk) if "desk" in request.fixturenames else Sandbox(tmp_path)


@pytest.fixture
def desk(sandbox: Sandbox) -> Desk:
    """A task with a workspace, in a real repository and a home of its own."""
    return Desk.at(sandbox)


@pytest.fixture
def siding(sandbox: Sandbox) -> CommandLine:
    """The command line in the repository, in this process."""
    return CommandLine(sandbox.env, sandbox.repo)
