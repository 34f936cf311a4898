"""A task in which the scripted model works."""

import pytest

from bwrap import bwrap_problem
from integration.escapes.world import landlock_version, without_bwrap
from sandbox import Sandbox

from .scripts import SCRIPT


@pytest.fixture(params=["bwrap", "landlock"])
def engine(request: pytest.FixtureRequest, agent: Sandbox) -> str:
    """The engine that sandboxes the agent's runs."""
    wanted = str(request.param)
    if wanted == "bwrap" and (problem := bwrap_problem()):
        pytest.skip(problem)
    if wanted == "landlock":
        if landlock_version() == 0:
            pytest.skip("this kernel has no Landlock")
        agent.env.update(without_bwrap(agent.directory))
    return wanted


@pytest.fixture
def agent(sandbox: Sandbox) -> Sandbox:
    (sandbox.repo / "calc.py").write_text("def add(a, b):\n    return a - b  # word\n")
    (sandbox.repo / "other.py").write_text("word\n")
    sandbox.git("add", "-A")
    sandbox.git("commit", "-qm", "calc")
    (sandbox.directory / "script.yaml").write_text(SCRIPT)
    sandbox.siding("task", "start", "calc")
    return sandbox
