"""A task in which the scripted model works."""

import pytest

from sandbox import Sandbox

from .scripts import SCRIPT


@pytest.fixture
def agent(sandbox: Sandbox) -> Sandbox:
    (sandbox.repo / "calc.py").write_text("def add(a, b):\n    return a - b  # word\n")
    (sandbox.repo / "other.py").write_text("word\n")
    sandbox.git("add", "-A")
    sandbox.git("commit", "-qm", "calc")
    (sandbox.directory / "script.yaml").write_text(SCRIPT)
    sandbox.siding("task", "start", "calc")
    return sandbox
