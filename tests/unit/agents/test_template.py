"""A new agent is its folder and a row: everything that knows of agents knows it then."""

import json
from pathlib import Path

import pytest

import siding.agents
from sandbox import Sandbox
from siding.agents import facets
from siding.agents.table import AGENTS, BY_NAME
from siding.agents.transcripts import interchange
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
    monkeypatch.setattr(facets, "AGENTS", (*AGENTS, ROW))
    monkeypatch.setattr(interchange, "FORMS", (*interchange.FORMS, ROW.name))
    monkeypatch.setitem(BY_NAME, ROW.name, ROW)  # type: ignore[arg-type]
    check(ROW, facet, TEMPLATE, tmp_path)


def test_a_folder_and_a_row_make_an_agent_known(tmp_path: Path) -> None:
    task = Sandbox(tmp_path)
    task.env["PYTHONPATH"] = str(TEMPLATE)
    task.env["PATH"] = f"{tmp_path}:{task.env['PATH']}"
    (tmp_path / "parrot").write_text(PROGRAM)
    (tmp_path / "parrot").chmod(0o755)
    # A run: it is told to report, and its turn is a step of its own.
    task.siding("run", "--", "parrot", "Change the greeting")
    steps = task.json("log", "--json")["steps"]
    print(json.dumps(steps, indent=1))
    assert [step.get("agent") for step in steps] == ["parrot", "parrot"]
    # Its conversation: found in its home, taken over, counted, told by the policy's lists.
    (session,) = task.json("session", "list", "--json")["sessions"]
    assert (session["client"], session["prompt"]) == ("parrot", "Change the greeting")
    shown = task.siding("session", "show", "polly123").stdout.decode()
    assert "Done: the greeting is changed." in shown
