"""The budget is that of the run: what was used before a kill is used."""

from pathlib import Path
from typing import Any

import pytest

from siding.workflows.limits import Limits
from siding.workflows.outcome import Done, Used
from siding.workflows.resume import Policy, Scope
from unit.workflows.world import Ran, ScriptedAgents, run_script

SCRIPT = "return [await agent(x) for x in args]"
LEFT = "return [await agent('a'), budget.spent(), await agent('b'), budget.remaining()]"


class Paid(ScriptedAgents):
    """Agents that use forty tokens and forty cents each."""

    def __init__(self) -> None:
        super().__init__({})

    async def _attempt(self, prompt: str) -> Done:
        return Done(output=prompt, used=Used(tokens=40, dollars=0.4))


def paid(journal: Path, script: str, **more: Any) -> Ran:
    return run_script(journal, script, Paid(), **more)


@pytest.mark.parametrize("limits", [Limits(tokens=100), Limits(dollars=1.0)], ids=["tokens", "$"])
def test_a_run_that_is_resumed_has_what_is_left(limits: Limits, tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    first = paid(journal, SCRIPT, args=["a", "b", "c", "d"], limits=limits)
    assert (first.done.status, first.agents.calls) == ("failed", ["a", "b", "c"])
    again = paid(journal, SCRIPT, args=["a", "b", "c", "d"], limits=limits)
    assert "the budget is spent" in again.done.error
    assert again.agents.calls == []
    more = Limits(tokens=200, dollars=2.0)
    assert paid(journal, SCRIPT, args=["a", "b", "c", "d"], limits=more).done.value == list("abcd")


def test_a_run_that_is_made_anew_has_all_of_it(tmp_path: Path) -> None:
    journal, anew = tmp_path / "journal", Policy(scope=Scope.ALL)
    limits = Limits(tokens=100)
    paid(journal, SCRIPT, args=["a", "b"], limits=limits)
    done = paid(journal, SCRIPT, args=["a", "b"], limits=limits, policy=anew).done
    assert done.value == ["a", "b"]
    after = paid(journal, SCRIPT, args=["a", "b", "c", "d"], limits=limits)
    assert after.agents.calls == ["c"]  # eighty were used since


def test_a_script_reads_what_was_spent_before(tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    whole = paid(journal, LEFT, limits=Limits(tokens=100)).done.value
    assert whole == ["a", 40, "b", 20]
    lines = journal.read_bytes().splitlines(keepends=True)
    last = next(at for at, line in enumerate(lines) if b'"path":"2"' in line)
    journal.write_bytes(b"".join(lines[:last]))
    assert paid(journal, LEFT, limits=Limits(tokens=100)).done.value == whole
