"""The timeline of a run: lanes, widths, thickness; and what changes of it when an agent goes on."""

from siding.faces.web.workflows.values import LANE, Bar, Timeline, timeline
from siding.workflows.outcome import Used
from siding.workflows.state import AgentState, RunState


def agent(number: int, began: int, ended: int = 0, tokens: int = 0) -> AgentState:
    return AgentState(
        id=number,
        phase="A",
        status="done" if ended else "running",
        result="ok" if ended else "",
        used=Used(tokens=tokens, dollars=tokens / 1e6),
        started_at=began,
        ended_at=ended,
    )


def drawn(*agents: AgentState, now: int = 100_000, by: str = "tokens") -> Timeline:
    state = RunState(run_id="w1", agents=agents, updated_at=now)
    found = timeline(state, [("A", "a")], by)
    assert found is not None
    return found


def bars(found: Timeline) -> dict[int, Bar]:
    return {bar.id: bar for phase in found.phases for bar in phase.bars}


def test_agents_that_work_at_once_have_lanes_of_their_own() -> None:
    found = drawn(agent(0, 1000, 5000), agent(1, 2000, 3000), agent(2, 3000, 9000))
    lanes = {number: int(bar.y // LANE) for number, bar in bars(found).items()}
    assert lanes == {0: 0, 1: 1, 2: 1}
    assert found.phases[0].height == 2 * LANE


def test_times_are_counted_from_the_first_agent() -> None:
    found = drawn(agent(0, 61_000, 62_000), agent(1, 62_000), now=71_000)
    assert (bars(found)[0].x, bars(found)[0].width) == (0, 10)
    assert (bars(found)[1].x, bars(found)[1].width) == (10, 90)
    assert found.span == 100
    assert found.ticks == ("0s", "2s", "5s", "7s", "10s")


def test_the_thicker_the_more_on_a_scale_that_never_moves() -> None:
    few, many = agent(0, 1000, 2000, tokens=500), agent(1, 3000, 4000, tokens=500_000)
    assert bars(drawn(few))[0].height == bars(drawn(few, many))[0].height
    found = bars(drawn(few, many))
    assert found[0].height < found[1].height <= LANE
    assert bars(drawn(agent(0, 1, 2), by="dollars"))[0].height > 0


def test_an_agent_that_goes_on_moves_no_other_bar() -> None:
    before = drawn(agent(0, 1000, 4000), agent(1, 2000), agent(2, 4000), now=5000)
    after = drawn(agent(0, 1000, 4000), agent(1, 2000, 8000), agent(2, 4000), now=8000)
    assert bars(before)[0] == bars(after)[0]
    assert before.shape == after.shape
    assert [bar.y for bar in bars(before).values()] == [bar.y for bar in bars(after).values()]


def test_without_an_agent_there_is_none() -> None:
    assert timeline(RunState(run_id="w1"), [], "tokens") is None
