"""Calls that are no agents: questions, commands, forks; and what they do to the budget."""

import asyncio
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from siding.workflows.acts import scripts
from siding.workflows.allowed import INJECTED
from siding.workflows.child.hooks import AGENT_OPTIONS
from siding.workflows.engine.agent_run import added
from siding.workflows.engine.calls import Calls
from siding.workflows.engine.plan import chosen_agents
from siding.workflows.engine.ports import CommandCall, Refused
from siding.workflows.errors import BadResume
from siding.workflows.outcome import Used
from unit.workflows.world import lines, run_script

ASK = "return await ask('which?', options=['a', 'b'])"
CAUGHT = "try:\n    return await {}\nexcept Exception as error:\n    return str(error)"


class Place:
    """A workspace in which commands do well, unless they are bad."""

    def __init__(self) -> None:
        self.did: list[str] = []

    async def run(self, call: CommandCall) -> Mapping[str, Any]:
        self.did.append(call.command)
        if call.command == "bad":
            raise Refused("it may not")
        return {"exit": 3, "passed": False, "output": "said", "step": "7"}

    async def bring_back(self, fork: str) -> Mapping[str, Any]:
        self.did.append(fork)
        return {"step": "8", "conflicts": []}


def test_the_guide_has_each_name_and_each_option_of_an_agent() -> None:
    names, _, rest = scripts.guide().partition("\nOptions of `agent`: ")
    rows = "".join(line.split("|")[1] for line in names.splitlines() if line.startswith("| `"))
    assert {name for name in INJECTED if not re.search(rf"[ `]{name}[(`]", rows)} == set()
    options = rest.partition("\n\n")[0]
    assert {name for name in AGENT_OPTIONS if f"`{name}`" not in options} == set()


def test_a_new_script_names_all_that_is_there() -> None:
    source = Path(scripts.__file__).read_text("utf-8")
    named = source.partition("# The names ")[2].partition("are there.")[0]
    assert set(INJECTED) <= set(re.findall(r"\w+", named)) <= {*INJECTED, "and"}


def test_an_answer_is_asked_for_once(tmp_path: Path) -> None:
    first = run_script(tmp_path / "journal", ASK, answers={"which?": "b"})
    again = run_script(tmp_path / "journal", ASK)
    assert (first.done.value, again.done.value) == ("b", "b")
    assert (len(first.people.asked), len(again.people.asked)) == (1, 0)


def test_an_answer_that_cannot_be_recorded_is_an_error(tmp_path: Path) -> None:
    script = CAUGHT.format("ask('which?')")
    done = run_script(tmp_path / "journal", script, answers={"which?": float("nan")}).done
    assert done.value.startswith("the answer cannot be recorded: ")


def test_commands_and_forks_are_done_once(tmp_path: Path) -> None:
    script = "return [await run('make'), await bring_back('f1')]"
    place, later = Place(), Place()
    first = run_script(tmp_path / "journal", script, workspaces=place)
    again = run_script(tmp_path / "journal", script, workspaces=later)
    assert first.done.value == again.done.value
    assert [each["step"] for each in first.done.value] == ["7", "8"]
    assert (place.did, later.did) == (["make", "f1"], [])
    assert "'make': exit 3" in first.said


def test_a_command_that_is_refused_is_an_error_and_is_asked_for_again(tmp_path: Path) -> None:
    place, script = Place(), CAUGHT.format("run('bad')")
    for _time in range(2):
        assert run_script(tmp_path / "journal", script, workspaces=place).done.value == "it may not"
    assert place.did == ["bad", "bad"]


@pytest.mark.parametrize("call", ["ask('which?')", "run('make')", "sleep(0)", "agent('skipped')"])
def test_what_is_no_work_of_an_agent_costs_nothing(tmp_path: Path, call: str) -> None:
    ran = run_script(
        tmp_path / "journal",
        f"await agent('a')\nawait {call}\nreturn budget.spent()",
        {"skipped": [{"kind": "skipped"}], "*": "x"},
        answers={"which?": "b"},
        workspaces=Place(),
    )
    assert ran.done.value == 1


def test_a_schema_that_is_none_is_an_error_before_the_agent_begins(tmp_path: Path) -> None:
    script = CAUGHT.format("agent('a', schema={'type': 'nonsense'})")
    ran = run_script(tmp_path / "journal", script, {"*": "x"})
    assert "nonsense" in ran.done.value
    assert ran.agents.calls == []


def test_an_agent_without_a_result_has_its_own_reason_and_not_that_of_the_schema(
    tmp_path: Path,
) -> None:
    dead = {"kind": "dead", "reason": "api-error", "detail": "down", "retryable": False}
    script = "return await agent('a', schema={'type': 'object'})"
    ran = run_script(tmp_path / "journal", script, {"*": [dead]})
    assert ran.done.value is None
    (answer,) = [line for line in lines(tmp_path / "journal") if line["t"] == "answer"]
    assert (answer["result"]["reason"], answer["result"]["detail"]) == ("api-error", "down")


def test_agents_are_chosen_only_in_the_script_of_the_newest_attempt(tmp_path: Path) -> None:
    journal, one, other = tmp_path / "journal", "return await agent('a')", "return await agent('b')"
    for script in (one, other):
        run_script(journal, script, {"*": "<prompt>"})
    with pytest.raises(BadResume):
        run_script(journal, one, {"*": "<prompt>"}, policy=chosen_agents([0]))
    again = run_script(journal, other, {"*": "<prompt>!"}, policy=chosen_agents([0]))
    assert again.done.value == "b!"


def test_what_attempts_have_used_is_added() -> None:
    one = Used(tokens=1, input_tokens=2, dollars=0.5, tools=3, model="m")
    other = Used(tokens=10, input_tokens=20, dollars=None, tools=30)
    assert added(one, other) == Used(11, 22, 0.5, 33, "m")
    assert added(other, other).dollars is None


def test_a_call_of_no_kind_is_said() -> None:
    calls = Calls.__new__(Calls)  # it gets no further than the kind
    with pytest.raises(ValueError, match="asks for 'dream', which nobody knows"):
        asyncio.run(calls.carry_out({"kind": "dream"}))
