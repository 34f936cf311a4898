"""The workflows that come with Siding, end to end, with real programs as their agents."""

import json
import re
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from sandbox import Sandbox
from siding.asking.answer import answer
from siding.asking.decisions.record import Via
from siding.asking.lookup import list_decisions
from siding.record.place.project import require_project
from siding.record.place.wiring import open_app

# What each agent does with its prompt. They answer by what they are asked, as a model would.
AGENTS = {
    "small": 'printf "fast\\n" >>hello.txt; echo "one line"',
    "large": 'for n in 1 2 3 4; do echo "line $n" >>hello.txt; done; echo "four lines"',
    "broken": "echo broken >hello.txt; echo 'it is done'",
    "lazy": "echo 'nothing to do'",
    "mend": 'case "$1" in *fails*) touch green;; esac; echo mended',
    "note": 'name=$(printf %s "$1" | tr -dc a-z); echo "$1" >"$name.note"; echo "noted $1"',
    "review": """
        case "$1" in
        "Write the verdict"*) echo "Close the door.";;
        "Review "*secrets*) echo '{"findings": [
            {"title": "open door", "where": "a.py:1", "why": "no key", "severity": "high"},
            {"title": "no lock", "where": "a.py:2", "why": "rusty", "severity": "low"}]}';;
        "Review "*) echo '{"findings": []}';;
        *"open door"*refute*) echo '{"stands": true, "why": "I walked in"}';;
        *) echo '{"stands": false, "why": "there is a lock"}';;
        esac""",
    "build": """
        case "$1" in
        "Plan "*"A person wants it changed: with tests"*) echo "Write it, with tests.";;
        "Plan "*) echo "Write it.";;
        *) touch built; echo "built it";;
        esac""",
}


@pytest.fixture
def flows(sandbox: Sandbox) -> Sandbox:
    home = sandbox.directory / "siding"
    home.mkdir(exist_ok=True)
    agents = {
        name: {"command": ["sh", "-c", code, name, "{prompt}"]} for name, code in AGENTS.items()
    }
    settings = {"workflows": {"agent": "small", "agents": agents}}
    (home / "config.yaml").write_text(json.dumps(settings))
    sandbox.siding("task", "start", "flows")
    return sandbox


def ran(flows: Sandbox, *words: str, status: int = 0) -> Any:
    return json.loads(flows.siding("-q", *words, status=status).stdout)


class TestRace:
    def test_the_smallest_that_passes_is_brought_back(self, flows: Sandbox) -> None:
        found = ran(
            flows,
            *("race", "Go faster", "--agents", "large,small,broken,lazy", "--json"),
            *("--check", "grep -q hello hello.txt"),
        )
        assert found["winner"] == "small:2"
        passed = {each["agent"]: each["passed"] for each in found["entries"]}
        assert passed == {"large:1": True, "small:2": True, "broken:3": False, "lazy:4": True}
        assert (flows.workspace() / "hello.txt").read_text() == "hello\nfast\n"
        forks = [each["fork"] for each in found["entries"]]
        other = flows.siding("diff", "--task", forks[0]).stdout.decode()
        assert "+line 4" in other
        assert flows.json("task", "list", "--format", "json")[0]["name"] == "flows"

    def test_when_nothing_passes_nothing_is_brought_back(self, flows: Sandbox) -> None:
        words = ("race", "Go", "--agents", "broken,lazy", "--check", "false", "--json")
        assert ran(flows, *words, status=1)["winner"] is None
        assert (flows.workspace() / "hello.txt").read_text() == "hello\n"


def test_fix_until_green(flows: Sandbox) -> None:
    words = ("fix-until-green", "check=test -e green", "--agent", "mend")
    found = ran(flows, *words)
    assert (found["green"], found["rounds"]) == (True, 1)
    assert ran(flows, *words)["rounds"] == 0


def test_fix_until_green_says_when_it_never_is(flows: Sandbox) -> None:
    found = ran(
        flows, "fix-until-green", "check=echo no; false", "rounds=2", "--agent", "lazy", status=1
    )
    assert (found["green"], found["output"]) == (False, "no\n")
    assert found["why"] == "`echo no; false` still fails (exit 1) after 2 rounds"


def test_one_that_was_told_nothing_says_what_it_needs(flows: Sandbox) -> None:
    for name in ("fix-until-green", "map", "plan-then-build", "race"):
        said = flows.siding("workflow", "run", name, status=1).stderr.decode()
        assert re.search(r"line \d+: ValueError: it needs .*='", said), said
        assert "once more" not in said


def test_map_writes_in_workspaces_that_come_back(flows: Sandbox) -> None:
    args = {"list": "printf 'ab\\ncd\\n'", "prompt": "{item}", "write": True}
    found = ran(flows, "map", "--args", json.dumps(args), "--agent", "note")
    assert [each["result"].strip() for each in found["results"]] == ["noted ab", "noted cd"]
    assert found["failed"] == []
    notes = {path.name: path.read_text() for path in flows.workspace().glob("*.note")}
    assert notes == {"ab.note": "ab\n", "cd.note": "cd\n"}


@pytest.mark.parametrize(
    "words",
    [
        (
            "map",
            "--args",
            '{"items": ["x"], "prompt": "{item}", "write": true}',
            "--agent",
            "small",
        ),
        ("race", "x", "--agents", "small", "--check", "true"),
    ],
)
def test_a_file_that_somebody_wrote_meanwhile_is_named(
    flows: Sandbox, words: tuple[str, ...]
) -> None:
    with open(flows.workspace() / "hello.txt", "a", encoding="utf-8") as held:
        said = flows.siding(*words).stderr.decode()
        held.write("of the writer\n")
    (kept,) = re.findall(r"by another program: kept as (\S+)", said)
    assert Path(kept).read_text() == "hello\nof the writer\n"


def test_review_keeps_what_stands(flows: Sandbox) -> None:
    found = ran(flows, "review", "--agent", "review", "--slots", "8")
    assert [each["title"] for each in found["findings"]] == ["open door"]
    assert found["verdict"].strip() == "Close the door."
    assert found["not_looked_at"] == []


def test_a_review_in_which_nobody_looked_found_nothing_out(flows: Sandbox) -> None:
    found = ran(flows, "review", 'sides:=["speed"]', "--agent", "lazy", status=1)
    assert found["verdict"] == "Nothing was looked at: no reviewer gave a result."
    assert (found["findings"], found["not_looked_at"]) == ([], ["side 1"])


def test_a_map_of_nothing_is_no_success(flows: Sandbox) -> None:
    assert ran(flows, "map", "list=true", "prompt=x", status=1)["why"] == "there is no item"
    said = flows.siding("map", "list=exit 3", "prompt=x", status=1).stderr.decode()
    assert "`exit 3` ended with 3: there is no list" in said


class TestPlanThenBuild:
    def test_a_person_changes_the_plan_and_says_yes(self, flows: Sandbox) -> None:
        answers = ["plan again", "with tests", "build it"]
        person = threading.Thread(target=_answer_in_turn, args=(flows, answers))
        person.start()
        args = {"goal": "a house", "check": "test -e built"}
        words = ("plan-then-build", "--args", json.dumps(args), "--agent", "build")
        found: Mapping[str, Any] = ran(flows, *words)
        person.join(60)
        assert found["built"] is True
        assert found["plan"].strip() == "Write it, with tests."
        assert Path(flows.workspace() / "built").exists()

    def test_a_person_stops_it(self, flows: Sandbox) -> None:
        person = threading.Thread(target=_answer_in_turn, args=(flows, ["stop"]))
        person.start()
        found = ran(flows, "plan-then-build", "goal=a house", "--agent", "build", status=1)
        person.join(60)
        assert found["built"] is False
        assert not (flows.workspace() / "built").exists()


def _answer_in_turn(flows: Sandbox, answers: list[str]) -> None:
    project = require_project(open_app(env=flows.env, cwd=flows.repo))
    for chosen in answers:
        until = time.monotonic() + 100
        while not (waiting := list_decisions(project)[0]):
            assert time.monotonic() < until
            time.sleep(0.05)
        answer(project, waiting[0].session_id, [{"id": 1, "chosen": chosen}], via=Via.TERMINAL)
