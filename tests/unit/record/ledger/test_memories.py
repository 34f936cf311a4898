"""Where a conversation goes on when turns were taken back: the laws of that decision.

A model of agents that remember: each conversation has the turns that its model was told, and the
decision is carried out on them. Turns and moves of the task are random.
"""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.record.ledger.memories import Place, place_to_go
from siding.record.ledger.store import Ledger
from siding.record.ledger.turns import Copied, ReportedTurn, reported_turns

MOVES = st.lists(st.one_of(st.just(0), st.integers(1, 9)), min_size=1, max_size=14)


class Agent:
    """A task and an agent that goes back, with what it really remembers, by conversation.

    `tells`: it does not go back, and is only told.
    """

    def __init__(self, path: Path) -> None:
        path.unlink(missing_ok=True)
        self.ledger = Ledger(path)
        self.count = 0
        self.session = "s0"
        self.copied = Copied()
        self.minds: dict[str, list[str]] = {"s0": []}
        self.steps_of: dict[str, int] = {}

    def turns(self) -> list[ReportedTurn]:
        return reported_turns(list(self.ledger.steps()))

    def place(self) -> Place | None:
        return place_to_go(self.turns(), self.session, self.copied)

    def goes(self, place: Place | None) -> None:
        if place is None:
            return
        if not place.before:
            self.session, self.copied = place.session, Copied()
            return
        mind = self.minds[place.session]
        old, self.session = place.session, f"s{len(self.minds)}"
        self.copied = Copied(old, place.before)
        self.minds[self.session] = mind[: mind.index(place.before)]

    def turn(self, *, remembers: bool = False) -> None:
        """Give a prompt: it goes back first, unless it is to remember."""
        if not remembers:
            self.goes(self.place())
        name = f"t{self.count + 1}"
        of, without = self.copied
        told = {"origin": "turn", "run": "r1", "session": self.session, "message": name}
        copy = {"copy_of": of, "without": without} if of else {}
        self._adds("checkpoint", prompt=name, turn=name, **told, **copy)
        self.minds[self.session].append(name)
        self.steps_of[name] = self.count

    def back(self, to: int) -> None:
        name = f"{to:04d}" if to else "base"
        where = {"target": "step", "target_step": name} if to else {"target": "base"}
        self._adds("rollback", parts="all", on=name, **where)

    def _adds(self, kind: str, **fields: object) -> None:
        self.count += 1
        standing = {"on": f"{self.count - 1:04d}"} if self.count > 1 else {}
        self.ledger.append({"kind": kind, "status": "completed", **standing, **fields})

    @property
    def mind(self) -> list[str]:
        return self.minds[self.session]

    def standing(self) -> list[str]:
        return [turn.detail.turn for turn in self.turns() if turn.stands]


def played(path: Path, moves: Sequence[int], *, remembers: Sequence[bool] = ()) -> Agent:
    """Have turns (0), and moves to the state after a step."""
    agent = Agent(path)
    for at, move in enumerate(moves):
        if move == 0:
            agent.turn(remembers=at < len(remembers) and remembers[at])
        elif move <= agent.count:
            agent.back(move - 1)
    return agent


@given(moves=MOVES)
def test_it_remembers_what_stands_and_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, moves: list[int]
) -> None:
    agent = played(tmp_path_factory.getbasetemp() / "ledger.jsonl", moves)
    agent.goes(agent.place())
    assert agent.mind == agent.standing()
    assert agent.place() is None  # it is there: nothing is done twice


@given(moves=MOVES, remembers=st.lists(st.booleans(), max_size=14))
def test_who_had_it_remember_loses_nothing_that_stands(
    tmp_path_factory: pytest.TempPathFactory, moves: list[int], remembers: list[bool]
) -> None:
    path = tmp_path_factory.getbasetemp() / "ledger.jsonl"
    agent = played(path, moves, remembers=remembers)
    standing = agent.standing()
    known = [each for each in agent.mind if each in standing]
    agent.goes(agent.place())
    assert [each for each in known if each not in agent.mind] == []
    # The newest turn that it knows stands: what was taken back is forgotten, or was told.
    assert not agent.mind or agent.mind[-1] in standing
    assert agent.place() is None


@given(moves=MOVES)
def test_what_it_is_said_to_forget_and_to_recall_is_so(
    tmp_path_factory: pytest.TempPathFactory, moves: list[int]
) -> None:
    agent = played(tmp_path_factory.getbasetemp() / "ledger.jsonl", moves)
    before, place = list(agent.mind), agent.place()
    agent.goes(place)
    forgets, recalls, keeps = (
        [each.detail.turn for each in found]
        for found in ((place.forgets, place.recalls, place.keeps) if place else ((), (), ()))
    )
    assert [each for each in before if each not in agent.mind] == forgets
    assert [each for each in agent.mind if each not in before] == recalls
    assert place is None or keeps == agent.mind


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    made = Agent(tmp_path / "ledger.jsonl")
    for _ in range(3):
        made.turn()
    return made


def test_undo_redo_undo_is_one_way_back(agent: Agent) -> None:
    for to in (2, 3, 2):
        agent.back(to)
    place = agent.place()
    assert place is not None
    assert (place.session, place.before) == ("s0", "t3")


def test_a_redo_leads_to_the_conversation_that_has_it(agent: Agent) -> None:
    agent.back(2)
    agent.turn()
    assert agent.mind == ["t1", "t2", "t5"]
    agent.back(3)
    place = agent.place()
    assert place is not None
    assert (place.session, place.before) == ("s0", "")
    agent.goes(place)
    agent.back(5)  # and undone again: to the copy that has what came then
    place = agent.place()
    assert place is not None
    assert (place.session, place.before) == ("s1", "")


def test_a_turn_in_the_middle_of_which_it_was_told_stays(agent: Agent) -> None:
    agent.back(2)
    agent.turn(remembers=True)
    assert agent.place() is None
    agent.back(2)
    place = agent.place()
    assert place is not None
    assert place.before == "t3"  # with all that came of it


def test_a_turn_without_an_id_is_no_place(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.jsonl")
    told = {"origin": "turn", "run": "r1", "session": "s", "message": "x", "prompt": "x"}
    ledger.append({"kind": "checkpoint", "status": "completed", **told})
    back = {"target": "base", "parts": "all", "on": "base"}
    ledger.append({"kind": "rollback", "status": "completed", **back})
    assert place_to_go(reported_turns(list(ledger.steps())), "s") is None


def test_other_conversations_of_the_task_are_left_alone(agent: Agent) -> None:
    agent.back(1)
    assert place_to_go(agent.turns(), "other") is None
