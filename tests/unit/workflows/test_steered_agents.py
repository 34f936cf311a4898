"""An agent of a workflow's run is named as `workflow watch` shows it, or by its number."""

import pytest

from siding.ground.errors import UsageError
from siding.workflows.acts.control import agent_in
from siding.workflows.state import AgentState, RunState

AGENTS = (
    AgentState(id=0, label="first", status="done"),
    AgentState(id=1, label="try", status="done"),
    AgentState(id=2, label="try", status="running"),
    AgentState(id=3, label="twin", status="running"),
    AgentState(id=4, label="twin", status="running"),
)
RUN = RunState(run_id="w1", agents=AGENTS)


@pytest.mark.parametrize(("named", "number"), [("first", 0), ("try", 2), ("1", 1), ("9", 9)])
def test_it_is_found(named: str, number: int) -> None:
    assert agent_in(RUN, named) == number


@pytest.mark.parametrize(
    ("named", "told"),
    [("twin", "agents 3, 4"), ("nobody", "no agent of this run"), ("", "no agent")],
)
def test_another_name_is_an_error(named: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        agent_in(RUN, named)


def test_the_error_lists_those_that_there_are() -> None:
    with pytest.raises(UsageError) as caught:
        agent_in(RUN, "nobody")
    assert caught.value.hint == "there are: 0 first, 1 try, 2 try, 3 twin, 4 twin"
