"""A new agent is its folder and a row: everything that knows of agents knows it then."""

from pathlib import Path

import pytest

import siding.agents
from sandbox import Sandbox
from siding.agents import facets, table
from siding.agents.table import AGENTS, BY_NAME
from unit.agents.conformance import check
from unit.agents.template.row import ROW

TEMPLATE = Path(__file__).with_name("template")
TOLD = (TEMPLATE / "parrot-1.jsonl").read_text("utf-8")
# It keeps a conversation in its home, and says once that it has had a turn.
PROGRAM = f"""#!/bin/sh
mkdir -p "$HOME/.parrot/sessions"
sed "s:/repo:$PWD:" >"$HOME/.parrot/sessions/polly123.jsonl" <<'END'
{TOLD}END
printf hello >greeting.txt
printf '%s' '{{"moment": "prompt", "session": "polly123", "text": "Change the greeting"}}' |
    $PARROT_REPORTS_TO >/dev/null
printf '%s' '{{"moment": "stopped", "session": "polly123"}}' | $PARROT_REPORTS_TO >/dev/null
"""


@pytest.mark.parametrize("facet", ROW.facets)
def test_the_template_passes_the_conformance_suite(
    facet: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(siding.agents, "__path__", [*siding.agents.__path__, str(TEMPLATE)])
    monkeypatch.setattr(table, "AGENTS", (*AGENTS, ROW))
    monkeypatch.setattr(facets, "BY_NAME", {**BY_NAME, ROW.name: ROW})
    check(ROW, facet, TEMPLATE, tmp_path)


def test_a_folder_and_a_row_make_an_agent_known(tmp_path: Path) -> None:
    task = Sandbox(tmp_path)
    task.env["PYTHONPATH"] = str(TEMPLATE)
    task.env["PATH"] = f"{tmp_path}:{task.env['PATH']}"
    (tmp_path / "parrot").write_text(PROGRAM)
    (tmp_path / "parrot").chmod(0o755)
    # It is told to report as it is run, and its turn is a step.
    ran = task.siding("run", "--", "parrot", "Change the greeting").stderr.decode()
    assert "1 file in 2 turns" in ran
    # Its conversation is found in its home, read, and knows the step.
    shown = task.siding("session", "show", "polly123").stdout.decode()
    assert "Done: the greeting is changed." in shown
    assert "→ step 0002 of task parrot" in shown
    # What it has used is counted.
    (used,) = task.json("usage", "--by", "client", "--format", "json")
    assert (used["client"], used["input"], used["output"]) == ("parrot", 100, 20)
    # A policy knows what it obeys.
    (task.repo / ".siding").mkdir()
    (task.repo / ".siding" / "policy.yaml").write_text("version: 1\n")
    blocked = task.siding("run", "--", "touch", ".parrot/x", status=5).stderr.decode()
    assert "steer-agents" in blocked
