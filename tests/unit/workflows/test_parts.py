"""The budget's accounts, the lines of a journal, and what of a record counts: each for itself."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from siding.ground.errors import UsageError
from siding.workflows.acts.run import policy_from_words
from siding.workflows.child.builtins import names_for
from siding.workflows.engine.agent_run import added
from siding.workflows.engine.plan import Policy, Scope, agent_range, chosen_agents
from siding.workflows.engine.ports import AgentCall, Attempt, Question, Report, question
from siding.workflows.journal import JournalWriter, read_journal
from siding.workflows.journal_lines import (
    Answer,
    AttemptLine,
    Begun,
    line_from,
    path_order,
    stands_behind,
)
from siding.workflows.limits import Account, Budget, Limits, Reservation
from siding.workflows.outcome import Done, Outcome, Used
from unit.workflows.world import ScriptedAgents, run_script

CALL = {"path": "0", "kind": "agent", "fp": "f"}
OK = {"kind": "ok", "output": 1}


def account(*, total: float | None = 100, spent: float = 0, own: float | None = None) -> Account:
    made = Account(total, own, 2)
    made.settle(None, spent, is_last=True)
    return made


def test_a_call_wants_its_limit_or_its_part_of_what_is_left() -> None:
    assert account(spent=60).wanted(None) == 20
    assert account(spent=60).wanted(30) == 30
    assert account(spent=60).wanted(50) == 40
    assert account(spent=60, own=7).wanted(None) == 7
    assert account(spent=60, own=7).wanted(9) == 9
    assert account(spent=105).wanted(10) == 0  # more was used than there was
    assert (account(total=None).wanted(None), account(total=None).wanted(5)) == (None, 5)


def test_what_is_set_aside_is_not_there_for_others() -> None:
    tokens = account()
    tokens.reserve(60)
    assert (tokens.has(40), tokens.has(41), tokens.has(None)) == (True, False, True)
    tokens.settle(60, 10, is_last=False)
    assert (tokens.spent, tokens.free, tokens.is_spent) == (10, 90, False)
    tokens.settle(None, 90, is_last=True)
    assert (tokens.is_spent, tokens.has(1)) == (True, False)


def test_a_call_goes_on_beyond_its_share_as_long_as_there_is_something_free() -> None:
    tokens = account()
    tokens.reserve(10)
    assert (tokens.covers(10, 10), tokens.covers(100, 10), tokens.covers(101, 10)) == (
        True,
        True,
        False,
    )
    assert (tokens.grown(95, 10), tokens.free) == (95, 5)
    without_a_total = account(total=None)
    assert (without_a_total.covers(10, 10), without_a_total.covers(11, 10)) == (True, False)
    assert without_a_total.covers(10**9, None)


@pytest.mark.parametrize(("tokens", "dollars"), [(100, 0.5), (50, 1.0)])
def test_both_of_tokens_and_dollars_are_needed(tokens: float, dollars: float) -> None:
    budget = Budget(Account(100, 80, 1), Account(1.0, 0.8, 1))
    budget.tokens.reserve(100 - tokens)
    budget.dollars.reserve(1.0 - dollars)
    assert budget.try_reserve(None) is None
    other = Budget(Account(100, 80, 1), Account(1.0, 0.8, 1))
    assert other.try_reserve(None) == Reservation(80, 0.8)
    assert other.extended(Reservation(80, 0.8), Used(tokens=101)) is None
    assert other.extended(Reservation(80, 0.8), Used(dollars=1.01)) is None


class Dear(ScriptedAgents):
    """Agents that say what they have used at their end."""

    async def run(
        self, call: AgentCall, attempt: Attempt, report: Callable[[Report], None]
    ) -> Outcome:
        return Done(output=call.prompt, used=Used(tokens=7, dollars=0.6))


@pytest.mark.parametrize(
    ("limits", "told"),
    [
        (Limits(concurrency=1, tokens=1000, dollars=0.5), "the budget is spent: $0.60 of $0.50"),
        (Limits(concurrency=1, tokens=5, dollars=9.0), "the budget is spent: 7 of 5 tokens"),
        (Limits(concurrency=1, dollars=0.5), "the budget is spent: $0.60 of $0.50"),
    ],
)
def test_it_is_said_of_what_nothing_is_left(tmp_path: Path, limits: Limits, told: str) -> None:
    script = "await agent('a')\nreturn await agent('b')"
    done = run_script(tmp_path / "journal", script, Dear({}), limits=limits).done
    assert (done.kind, done.error) == ("budget", told)


def test_a_line_without_what_may_be_left_out() -> None:
    begun, answer = (
        line_from({"t": kind, **CALL, "result": OK}, 3) for kind in ("begun", "answer")
    )
    assert begun == Begun(path="0", kind="agent", fingerprint="f", id=-1, session="")
    assert answer == Answer(path="0", kind="agent", fingerprint="f", seq=3, result=OK, id=-1)
    assert line_from({"t": "of a newer version"}, 0) is None


@pytest.mark.parametrize("kind", ["begun", "answer"])
@pytest.mark.parametrize(
    "wrong",
    [
        *({name: value} for name in CALL for value in (None, 1, ["0"])),
        {"id": "x"},
    ],
)
def test_a_line_of_another_form_is_no_line(kind: str, wrong: dict[str, Any]) -> None:
    with pytest.raises((TypeError, ValueError)):
        line_from({"t": kind, **CALL, "result": OK, **wrong}, 0)


@pytest.mark.parametrize("result", [None, [], "ok", {}, {"kind": 1}])
def test_an_answer_has_a_result_with_a_kind(result: object) -> None:
    with pytest.raises(TypeError):
        line_from({"t": "answer", **CALL, "result": result}, 0)


@pytest.mark.parametrize(
    ("path", "lane", "after", "is_behind"),
    [
        ("3", "", "2", True),
        ("2", "", "2", False),
        ("1", "", "2", False),
        ("3.0/0", "", "2.1/4", True),
        ("2.0/1", "2.0", "2.0/0", True),
        ("2.0/0", "2.0", "2.0/0", False),
        ("2.1/1", "2.0", "2.0/0", False),
        ("10", "", "9", True),
        ("w", "", "0", False),
    ],
)
def test_what_stands_behind_a_call(path: str, lane: str, after: str, is_behind: bool) -> None:
    assert stands_behind(path, lane, after) is is_behind


def test_paths_are_sorted_as_they_stand_in_the_script() -> None:
    paths = ["10", "2.0/1", "2", "2.10/0", "2.w/0", "2.9/3"]
    assert sorted(paths, key=path_order) == ["2", "2.w/0", "2.0/1", "2.9/3", "2.10/0", "10"]


def test_a_call_belongs_to_the_script_of_the_attempt_that_made_it(tmp_path: Path) -> None:
    def attempt(number: int) -> AttemptLine:
        return AttemptLine(number=number, at="", script=f"script {number}", args="a")

    def answer(path: str, seq: int) -> Answer:
        return Answer(path=path, kind="agent", fingerprint="f", seq=seq, result=OK)

    with JournalWriter(tmp_path / "journal") as writer:
        writer.write([attempt(1), answer("0", 0), attempt(2), answer("1", 4)])
    recorded = read_journal(tmp_path / "journal")
    assert recorded.scripts == {"0": "script 1 a", "1": "script 2 a"}
    assert (recorded.next_seq, len(recorded.attempts)) == (5, 2)


def test_the_agents_that_a_policy_names() -> None:
    assert agent_range(3, 5).selected() == {3, 4, 5}
    assert agent_range(3, 3).selected() == {3}
    assert chosen_agents([7, 2]).selected() == {2, 7}


def test_a_question_that_says_no_more_has_one_answer_and_no_limit() -> None:
    assert question("1", {"question": "which?"}) == Question(
        path="1",
        question="which?",
        options=(),
        context="",
        recommend="",
        multiple=False,
        timeout_s=None,
    )
    assert question("1", {"question": "which?", "options": ["a"], "multiple": True}).multiple


@pytest.mark.parametrize("name", ["__class__", "__globals__", "_hidden"])
def test_by_no_name_that_is_made_up_a_script_gets_out(name: str) -> None:
    given = names_for(__import__, print)
    with pytest.raises(AttributeError, match="a workflow has no attribute"):
        given["getattr"]((), name)
    with pytest.raises(AttributeError, match="a workflow has no attribute"):
        given["getattr"]((), name, None)
    with pytest.raises(AttributeError, match="a workflow has no attribute"):
        given["setattr"](Exception(), name, 1)
    assert given["getattr"]([1], "missing", 7) == 7


def test_words_about_agents_that_run_again() -> None:
    assert policy_from_words(anew=False, agents=None) == Policy()
    assert policy_from_words(anew=True, agents=None) == Policy(scope=Scope.ALL)
    assert policy_from_words(anew=False, agents="3-7") == agent_range(3, 7)
    assert policy_from_words(anew=False, agents="2,5") == chosen_agents([2, 5])
    for agents in ("2", "", "3-7"):
        with pytest.raises(UsageError, match="--agents says nothing more"):
            policy_from_words(anew=True, agents=agents)
    with pytest.raises(UsageError, match="'two' is no id of an agent"):
        policy_from_words(anew=False, agents="two")


def test_nothing_was_used_before_anything_was_said_of_it() -> None:
    assert Used() == Used(tokens=0)
    assert added(Used(), Used(tokens=3)).tokens == 3


class Noting(Account):
    """An account that notes who was said to be the last at work."""

    def __init__(self) -> None:
        super().__init__(1.0, 0.1, 3)
        self.last: list[bool] = []

    def settle(self, amount: float | None, used: float, *, is_last: bool) -> None:
        self.last.append(is_last)
        super().settle(amount, used, is_last=is_last)


def test_whoever_settles_when_nobody_else_is_at_work_is_the_last() -> None:
    dollars = Noting()
    budget = Budget(Account(None, None, 3), dollars)
    for _ in range(2):  # also after there was nobody
        set_aside = [budget.try_reserve(None) for _ in range(3)]
        assert dollars.free == pytest.approx(0.7)
        for each in set_aside:
            assert each is not None
            budget.settle(each, Used())
        assert dollars.free == 1.0
    assert dollars.last == [False, False, True] * 2
