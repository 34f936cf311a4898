"""A task of its own, and the command line in its repository."""

import pytest

from integration.undo.desk import Desk
from sandbox import Sandbox
from unit.faces.cli.in_process import CommandLine


@pytest.fixture
def desk(sandbox: Sandbox) -> Desk:
    """A task with a workspace, in a real repository and a home of its own."""
    return Desk(sandbox)


@pytest.fixture
def siding(sandbox: Sandbox) -> CommandLine:
    """The command line in the repository, in this process."""
    return CommandLine(sandbox.env, sandbox.repo)
