"""What holds of the budget and the slots whatever agents use, and in whatever order they end."""

import asyncio
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scratch import scratch
from siding.workflows.engine.agent_run import AgentRuns, BudgetSpent
from siding.workflows.engine.ports import AgentCall, Attempt, Report
from siding.workflows.events import AgentStarted, Event
from siding.workflows.limits import MAX_AGENTS, Account, Budget, Limits, Reservation, Retrying
from siding.workflows.outcome import Done, Outcome, Used
from unit.workflows.world import ScriptedAgents, run_script

pytestmark = pytest.mark.timeout(3600)
EXAMPLES = int(os.environ.get("SIDING_WORKFLOW_LAWS", "1"))
many = settings(max_examples=50 * EXAMPLES, deadline=None)
few = settings(max_examples=2 * EXAMPLES, deadline=None)
_LONG_S = 60.0  # of a run that waits for what cannot come


class Drawn(NamedTuple):
    """What a call does: after so many turns of the loop it has used so many tokens and dollars
    more, and so on. It may have a limit of its own."""

    uses: Sequence[tuple[int, int, float]]
    max_tokens: int | None


AMOUNTS = st.tuples(
    st.integers(min_value=0, max_value=5),
    st.integers(min_value=0, max_value=400_000),
    st.floats(min_value=0, max_value=0.7, allow_subnormal=False),
)
CALLS = st.lists(
    st.builds(
        Drawn,
        uses=st.lists(AMOUNTS, max_size=6),
        max_tokens=st.none() | st.integers(min_value=1, max_value=2_000_000),
    ),
    min_size=1,
    max_size=12,
)
TOTALS = st.tuples(
    st.none() | st.integers(min_value=1, max_value=2_000_000),
    st.none() | st.floats(min_value=0.01, max_value=5),
)


class Spenders:
    """Agents that use what was drawn, tell each time, and end when they are told to."""

    def __init__(self, drawn: Sequence[Drawn]) -> None:
        self.tokens = 0
        self.dollars = 0.0
        self._drawn = drawn

    async def run(
        self, call: AgentCall, attempt: Attempt, report: Callable[[Report], None]
    ) -> Outcome:
        used = Used(dollars=0.0)
        for turns, tokens, dollars in self._drawn[call.id].uses:
            for _turn in range(turns):
                await asyncio.sleep(0)
            before = used
            used = Used(tokens=used.tokens + tokens, dollars=(used.dollars or 0.0) + dollars)
            report(Report(used=used))
            try:
                await asyncio.sleep(0)
            except asyncio.CancelledError:
                used = before  # what it was ended for nobody let it use
                raise
            finally:
                self.tokens += used.tokens - before.tokens
                self.dollars += (used.dollars or 0.0) - (before.dollars or 0.0)
        return Done(output=call.id, used=used)


@many
@given(CALLS, TOTALS, st.integers(min_value=1, max_value=16))
def test_many_at_once_never_use_more_than_there_is(
    drawn: list[Drawn], totals: tuple[int | None, float | None], slots: int
) -> None:
    """Each use that a call went on after is within the budget, and no call waits for ever."""
    tokens, dollars = totals
    spenders = Spenders(drawn)
    outcomes = _run_all(drawn, spenders, tokens, dollars, slots)
    assert len(outcomes) == len(drawn)
    assert tokens is None or spenders.tokens <= tokens
    assert dollars is None or spenders.dollars <= dollars + 1e-6
    if tokens is None and dollars is None:
        ends = [each for each in drawn if each.max_tokens is None]
        assert sum(isinstance(each, Done) for each in outcomes) >= len(ends)


TURNS = st.lists(  # of a call that begins or ends: its limit, and how much of its share it uses
    st.tuples(
        st.booleans(),
        st.none() | st.integers(min_value=1, max_value=2_000_000),
        st.floats(min_value=0, max_value=1) | st.floats(min_value=1, max_value=3),
    ),
    max_size=40,
)


@many
@given(TURNS, TOTALS, st.integers(min_value=1, max_value=16))
def test_what_is_too_much_is_what_calls_used_beyond_their_shares(
    turns: list[tuple[bool, int | None, float]], totals: tuple[int | None, float | None], slots: int
) -> None:
    """So it is of agents that say all of it at their end, when nobody can stop them any more."""
    tokens, dollars = totals
    budget = Budget(Account(tokens, None, slots), Account(dollars, None, slots))
    at_work: list[tuple[Reservation, float]] = []
    beyond = [0.0, 0.0]

    def end(share: Reservation, part: float) -> None:
        used = [int((share.tokens or 0.0) * part), (share.dollars or 0.0) * part]
        for number, mine in enumerate(share):
            beyond[number] += max(0.0, used[number] - (mine or 0.0))
        budget.settle(share, Used(tokens=int(used[0]), dollars=used[1]))

    for begins, own_limit, part in turns:
        if not begins and at_work:
            end(*at_work.pop(0))
        elif begins and len(at_work) < slots and not budget.is_spent:
            share = budget.try_reserve(own_limit)
            if share is not None:
                at_work.append((share, part))
    for share, part in at_work:
        end(share, part)
    assert tokens is None or budget.tokens.spent <= tokens + beyond[0] + 1e-3
    assert dollars is None or budget.dollars.spent <= dollars + beyond[1] + 1e-6


def _run_all(
    drawn: Sequence[Drawn], agents: Spenders, tokens: int | None, dollars: float | None, slots: int
) -> list[Outcome | BaseException]:
    async def work() -> list[Outcome | BaseException]:
        budget = Budget(Account(tokens, None, slots), Account(dollars, None, slots))
        runs = AgentRuns(
            agents,
            budget,
            Retrying(limit=0),
            lambda _event: None,
            concurrency=slots,
            random=lambda: 0.0,
        )
        calls = [
            AgentCall(id=number, path=str(number), prompt="", max_tokens=each.max_tokens)
            for number, each in enumerate(drawn)
        ]
        done = asyncio.gather(
            *(runs.run(call, "", lambda _session: None) for call in calls), return_exceptions=True
        )
        found = await asyncio.wait_for(done, _LONG_S)
        assert all(isinstance(each, Outcome | BudgetSpent) for each in found), found
        return found

    return asyncio.run(work())


@few
@given(
    st.lists(st.sampled_from([0, 1, 3]), min_size=2, max_size=30),
    st.integers(min_value=1, max_value=16),
)
def test_who_comes_first_has_the_slot_first(waits: list[int], slots: int) -> None:
    """Agents begin in the order in which the script has called them, however long each takes."""
    began: list[int] = []

    def note(_engine: object, event: Event) -> None:
        if isinstance(event, AgentStarted):
            began.append(event.id)

    table = {
        f"ask {number}": [{"kind": "ok", "output": "x", "delay_ms": wait}]
        for number, wait in enumerate(waits)
    }
    agents = ScriptedAgents(table)
    script = "return await parallel([lambda n=n: agent(f'ask {n}') for n in range(args)])"
    with scratch() as directory:
        run_script(
            Path(directory, "journal"),
            script,
            agents,
            args=len(waits),
            limits=Limits(concurrency=slots),
            control=note,
        )
    assert began == list(range(len(waits)))
    assert agents.peak <= slots


def test_a_thousand_agents_in_one_attempt_and_no_more(tmp_path: Path) -> None:
    script = f"return await pipeline(range({MAX_AGENTS + 1}), lambda n: agent(f'ask {{n}}'))"
    agents = ScriptedAgents({"*": "yes"})
    ran = run_script(tmp_path / "journal", script, agents, max_concurrency=16)
    assert ran.done.value == [*["yes"] * MAX_AGENTS, None]
    assert [each for each in ran.warnings if f"the cap of {MAX_AGENTS} agents" in each]
    assert len(agents.calls) == MAX_AGENTS


def test_four_thousand_and_ninety_six_items_and_no_more(tmp_path: Path) -> None:
    script = "return len(await parallel([lambda: 1] * args))"
    assert run_script(tmp_path / "most", script, args=4096).done.value == 4096
    done = run_script(tmp_path / "more", script, args=4097).done
    assert (done.status, done.kind) == ("failed", "cap"), done
