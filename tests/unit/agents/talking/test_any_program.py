"""The talker of any program: what it prints is its answer, and it has ended when it is quiet."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.agents.talking.abilities import Evidence
from siding.agents.talking.any_program import ANY_PROGRAM, LineTalker
from siding.agents.talking.port import (
    Hold,
    How,
    Opened,
    Picture,
    PromptTaken,
    Proof,
    Sent,
    Text,
    TimedTalker,
    Troubled,
    TurnEnded,
    TurnStarted,
)


def waits(talker: TimedTalker) -> float | None:
    """Return for how long its program may say nothing. (mypy believes that a property stays.)"""
    return talker.quiet_s


@pytest.fixture
def talker() -> LineTalker:
    """A talker whose program is ready."""
    found = LineTalker(quiet_s=2, patience_s=60)
    assert waits(found) == 2
    assert found.receive(b"Hello\n> ") == [Text("Hello\n> ")]
    assert found.quiet() == [Opened("")]
    assert found.quiet_s is None
    return found


def test_a_holder_knows_that_it_needs_the_time(talker: LineTalker) -> None:
    assert isinstance(talker, TimedTalker)


def test_one_that_says_nothing_at_first_is_ready_as_well() -> None:
    assert LineTalker().quiet() == [Opened("")]


def test_a_turn(talker: LineTalker) -> None:
    talker.prompt("p", ["Say", "something"])
    assert talker.to_send() == b"Say\nsomething\n"
    assert talker.to_send() == b""
    assert talker.receive(b"") == [TurnStarted("p")]
    assert waits(talker) == 60
    assert talker.receive(b"some") == [PromptTaken("p"), Text("some")]
    assert waits(talker) == 2
    assert talker.receive(b"thing") == [Text("thing")]
    assert talker.quiet() == [TurnEnded(How.DONE)]
    assert waits(talker) is None
    assert talker.receive(b"late") == [Text("late")]
    assert talker.quiet() == []


def test_without_a_word_the_prompt_is_not_taken(talker: LineTalker) -> None:
    talker.prompt("p", ["Say"])
    assert talker.quiet() == [TurnStarted("p"), TurnEnded(How.DONE, "it has said nothing")]


def test_a_steer_is_left(talker: LineTalker) -> None:
    assert not talker.abilities.steers
    talker.prompt("p", ["Say"])
    talker.receive(b"x")
    talker.to_send()
    talker.steer("s", ["more"])
    assert talker.to_send() == b""
    assert talker.quiet() == [TurnEnded(How.DONE, left=("s",))]


def test_after_a_stop_it_is_not_waited_for_long(talker: LineTalker) -> None:
    talker.prompt("p", ["Say"])
    talker.stop()
    assert talker.to_send() == b"Say\n"
    assert waits(talker) == 2
    assert talker.quiet()[-1] == TurnEnded(How.STOPPED)
    talker.stop()  # nothing runs
    talker.prompt("q", ["Say"])
    talker.receive(b"x")
    assert talker.quiet() == [TurnEnded(How.DONE)]


def test_of_a_picture_its_path_is_sent(talker: LineTalker) -> None:
    talker.prompt("p", ["See", Picture("image/png", b"", "/red.png"), Picture("image/png", b"")])
    assert talker.to_send() == b"See\n/red.png\n"


def test_what_it_cannot_it_says(talker: LineTalker) -> None:
    talker.set(model="m")
    talker.compact()
    assert [type(each) for each in talker.receive(b"")] == [Troubled, Troubled]
    assert talker.to_send() == b""


@given(st.text(), st.lists(st.integers(1, 8)))
def test_where_the_bytes_are_cut_makes_no_difference(said: str, cuts: list[int]) -> None:
    talker, data, found = LineTalker(), said.encode(errors="replace"), ""
    for size in (*cuts, len(data)):
        piece, data = data[:size], data[size:]
        found += "".join(each.text for each in talker.receive(piece) if isinstance(each, Text))
    assert found.encode() == said.encode(errors="replace")


def test_nothing_is_proven_and_nothing_gone_on_with() -> None:
    hold = Hold(program=("repeats",), cwd=Path("/w"), options=("-v",))
    assert ANY_PROGRAM.opened(hold).argv == ("repeats", "-v")
    assert "cannot go on" in ANY_PROGRAM.opened(hold._replace(session="a")).why_not
    assert ANY_PROGRAM.proof(Sent("p", "Say", 0, ""), hold) is Proof.UNSURE
    assert ANY_PROGRAM.abilities.evidence is Evidence.NONE
    assert ANY_PROGRAM.own_screen(hold._replace(session="a")) == ()
