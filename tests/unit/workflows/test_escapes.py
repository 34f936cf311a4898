"""No script leaves its process, and none gives another result in another run."""

import json
from pathlib import Path

import pytest

from siding.workflows.errors import ScriptError
from siding.workflows.script import read_script
from unit.workflows.escapes import CONTAINED, REFUSED, UNSTEADY
from unit.workflows.world import Ran, ScriptedAgents, run_script

SECRET = "what nobody may read"
NO_SECOND = {"*": [{"kind": "ok", "output": "x"}]}


@pytest.mark.parametrize("name", REFUSED)
def test_the_check_refuses_it_with_line_and_remedy(name: str) -> None:
    with pytest.raises(ScriptError) as raised:
        read_script("x = 1\n" + REFUSED[name])
    problem = raised.value.problems[0]
    assert 2 <= problem.line <= 2 + REFUSED[name].count("\n")
    assert problem.remedy
    assert "not Python" not in problem.what


@pytest.mark.parametrize("name", CONTAINED)
def test_it_is_contained(name: str, tmp_path: Path) -> None:
    outside, target = tmp_path / "outside", tmp_path / "target"
    outside.write_text(SECRET)
    script = CONTAINED[name].replace("{outside}", str(outside)).replace("{target}", str(target))
    ran = run_script(tmp_path / "journal.jsonl", script, NO_SECOND, checked=False)
    assert ran.done.status == "failed", ran.done
    assert ran.done.error
    assert len(ran.done.error) < 20_000
    assert SECRET not in json.dumps(ran.done) + "".join(ran.said)
    assert not target.exists()
    assert ran.agents.calls == []


def test_a_number_without_end_is_null(tmp_path: Path) -> None:
    script = "return [float('inf'), float('nan'), 1.5]"
    ran = run_script(tmp_path / "journal.jsonl", script, checked=False)
    assert (ran.done.status, ran.done.value) == ("completed", [None, None, 1.5])


@pytest.mark.parametrize("name", UNSTEADY)
def test_it_is_the_same_in_each_run(name: str, tmp_path: Path) -> None:
    def value(journal: str) -> Ran:
        return run_script(tmp_path / journal, UNSTEADY[name], checked=False)

    first, second = value("first"), value("second")
    assert first.done.status == "completed", first.done
    assert first.done.value == second.done.value


def test_a_log_is_bounded(tmp_path: Path) -> None:
    script = "for n in range(1_000_000):\n    log('x' * 20_000 if n < 3 else n)\nreturn 1"
    ran = run_script(tmp_path / "journal.jsonl", script)
    assert ran.done.value == 1
    assert len(ran.said) == 10_001
    assert "20,000 letters" in ran.said[0]
    assert len(ran.said[0]) < 10_100
    assert "no more" in ran.warnings[0]


@pytest.mark.parametrize(
    "script",
    [
        "while True:\n    pass",
        "while True:\n    agent('x')",
        "10 ** 10 ** 10",
        "while True: log(1)",
    ],
)
def test_a_script_that_computes_without_end_is_ended(script: str, tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    agents = ScriptedAgents({"*": [{"kind": "ok", "output": "x"}]})
    ran = run_script(journal, script, agents, silence_s=0.5, checked=False)
    assert ran.done.status == "failed"
    assert "took no answer for" in ran.done.error


def test_a_script_that_waits_may_take_its_time(tmp_path: Path) -> None:
    agents = ScriptedAgents({"*": [{"kind": "ok", "output": "x", "delay_ms": 700}]})
    ran = run_script(tmp_path / "journal.jsonl", "return await agent('x')", agents, silence_s=0.6)
    assert ran.done.value == "x"
