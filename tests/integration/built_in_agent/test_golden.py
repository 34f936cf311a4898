"""What the built-in agent writes, line by line: other programs read it.

After a change that is meant, write the file anew, and look at what has changed in it:

    SIDING_GOLDEN=write .venv/bin/python -m pytest tests/integration/built_in_agent/test_golden.py
"""

import os
from pathlib import Path

from golden.own_agent import GOLDEN, named
from sandbox import Sandbox
from siding import __version__

from .scripts import whole


def test_the_transcript_is_the_golden_one(agent: Sandbox) -> None:
    first = whole(agent, "fix it", "--permission-mode", "acceptEdits")
    whole(
        agent, "run echo seen", "--resume", first["session_id"], "--allowed-tools", "Bash(echo *)"
    )
    whole(agent, "run rm calc.py", "--resume", first["session_id"])
    (path,) = Path(agent.env["SIDING_HOME"]).glob("projects/*/sessions/*.jsonl")
    workspace = Path(os.path.realpath(agent.workspace()))
    written = named(path.read_text(), workspace, __version__)
    if os.environ.get("SIDING_GOLDEN") == "write":
        GOLDEN.write_text(written)
    assert written.splitlines() == GOLDEN.read_text().splitlines()
