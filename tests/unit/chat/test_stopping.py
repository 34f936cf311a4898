"""A turn is stopped, and an agent ended, whatever they are at."""

from typing import Any

from siding.agents.talking.abilities import Abilities
from siding.agents.talking.port import (
    Answer,
    Event,
    How,
    Opened,
    Parts,
    PromptTaken,
    TurnEnded,
    TurnStarted,
)
from siding.chat.events import Began, Hosted, record_of
from siding.chat.machine import (
    AwaitStop,
    CloseAgent,
    Interrupt,
    Machine,
    TellOfEnd,
    TellOfNone,
    TellOfPrompt,
)
from siding.chat.requests import (
    Asked,
    Compact,
    DropPrompt,
    EditPrompt,
    EndTalk,
    GivePrompt,
    MovePrompt,
    Request,
    StopTurn,
)
from siding.chat.state import folded
from siding.chat.talk import Talk


class Talker:
    """Notes what it is told."""

    session = ""

    def __init__(self, *, stops: bool) -> None:
        self.abilities = Abilities(stops=stops, compacts=True)
        self.told: list[str] = []

    def to_send(self) -> bytes:
        return b""

    def receive(self, data: bytes) -> list[Event]:
        del data
        return []

    def prompt(self, prompt_id: str, parts: Parts) -> None:
        del parts
        self.told.append(prompt_id)

    def steer(self, prompt_id: str, parts: Parts) -> None:
        raise AssertionError((prompt_id, parts))

    def stop(self) -> None:
        self.told.append("stop")

    def answer(self, ask: str, answer: Answer) -> None:
        raise AssertionError((ask, answer))

    def set(self, *, model: str = "", mode: str = "", effort: str = "") -> None:
        raise AssertionError((model, mode, effort))

    def compact(self) -> None:
        self.told.append("compact")


class Held:
    """A machine whose agent is there."""

    def __init__(self, *, stops: bool = True, opened: bool = True) -> None:
        self.story: list[dict[str, Any]] = [record_of(Began("scripted", ("scripted",)))]
        self.talker = Talker(stops=stops)
        self.machine = Machine(
            folded(self.story), self.talker, self.add, lambda waiting: (waiting.text,)
        )
        self.machine.talk = self.add(Hosted("r1"))
        if opened:
            self.machine.heard([Opened("s")])

    def add(self, event: Any, request: str = "", *, now: bool = False) -> Talk:
        del request, now
        self.story.append({"seq": len(self.story), **record_of(event)})
        return folded(self.story)

    def asks(self, request: Request) -> list[Any]:
        self.machine.asked_for(Asked("q", request, "me"))
        return self.machine.acts()

    def runs(self, prompt: str) -> None:
        """Have a turn running."""
        acts = self.asks(GivePrompt(prompt, "do"))
        assert acts == [TellOfPrompt(self.machine.talk.queue[0])]
        self.machine.ready("")
        self.machine.heard([PromptTaken(prompt), TurnStarted(prompt)])

    def said(self, event: str) -> list[dict[str, Any]]:
        return [line for line in self.story if line["event"] == event]


def test_an_agent_that_has_no_way_to_be_told_gets_a_signal_each_time() -> None:
    held = Held(stops=False)
    held.runs("p1")
    assert held.asks(StopTurn()) == [Interrupt(), AwaitStop()]
    assert held.asks(StopTurn()) == [Interrupt()]
    held.machine.heard([TurnEnded(How.STOPPED)])
    assert held.machine.acts() == [TellOfEnd(How.STOPPED)]
    held.machine.recorded(0)
    held.machine.stop_is_late()
    assert held.said("troubled") == []
    assert held.asks(StopTurn()) == []  # nothing runs: nobody is to be hit
    assert held.talker.told == ["p1", "stop"]


def test_a_stop_that_is_not_obeyed_is_said_and_can_be_told_again() -> None:
    held = Held()
    held.runs("p1")
    assert held.asks(StopTurn()) == [AwaitStop()]
    assert held.asks(StopTurn()) == []
    held.machine.stop_is_late()
    (said,) = held.said("troubled")
    assert "end --now" in said["message"]
    assert held.machine.talk.standing == "stopping"
    assert held.asks(StopTurn()) == [AwaitStop()]
    assert held.talker.told == ["p1", "stop", "stop"]
    assert held.asks(EndTalk(now=True)) == [CloseAgent(now=True)]


def test_what_is_stopped_before_the_agent_has_it_does_not_go() -> None:
    held = Held()
    held.asks(GivePrompt("p1", "do"))
    assert held.asks(StopTurn()) == [TellOfNone()]
    assert held.asks(GivePrompt("p2", "do")) == []
    held.machine.ready("")
    assert held.machine.acts() == []
    held.machine.recorded(0)
    assert [type(each) for each in held.machine.acts()] == [TellOfPrompt]
    held.machine.ready("")
    assert held.talker.told == ["p2"]


def test_what_is_changed_before_the_agent_has_it_goes_as_it_is_then() -> None:
    held = Held()
    held.asks(GivePrompt("p1", "do"))
    assert held.asks(EditPrompt("p1", "do not")) == [TellOfNone()]
    held.machine.ready("")
    held.machine.recorded(0)
    (act,) = held.machine.acts()
    assert isinstance(act, TellOfPrompt)
    assert act.prompt.text == "do not"
    held.asks(GivePrompt("p2", "first"))
    assert held.asks(MovePrompt("p2", "p1")) == [TellOfNone()]
    held.machine.ready("")
    held.machine.recorded(0)
    assert held.machine.acts() == [TellOfPrompt(held.machine.talk.queue[0])]
    assert held.machine.talk.queue[0].prompt == "p2"
    assert held.asks(DropPrompt("p2")) == [TellOfNone()]
    assert held.asks(EndTalk(now=True)) == [CloseAgent(now=True)]
    held.machine.ready("")
    held.machine.recorded(0)
    assert held.talker.told == []
    assert held.said("sending") == []
    assert [each.prompt for each in held.machine.talk.queue] == ["p1"]


def test_an_end_waits_for_the_turn_and_for_what_the_agent_was_started_for() -> None:
    held = Held(opened=False)
    held.asks(GivePrompt("p1", "do"))
    held.asks(EndTalk())
    held.machine.heard([Opened("s")])
    assert [type(each) for each in held.machine.acts()] == [TellOfPrompt]
    held.machine.ready("")
    held.machine.heard([PromptTaken("p1"), TurnStarted("p1"), TurnEnded(How.DONE)])
    held.machine.recorded(0)
    assert held.machine.acts() == [TellOfEnd(How.DONE), CloseAgent()]
    # What comes now is for the next agent.
    assert held.asks(GivePrompt("p2", "do")) == []
    assert held.machine.goes_on
    assert held.talker.told == ["p1"]


def test_an_agent_that_never_is_ready_is_ended() -> None:
    assert Held(opened=False).asks(EndTalk()) == [CloseAgent()]


def test_a_prompt_takes_an_end_back() -> None:
    held = Held()
    held.runs("p1")
    held.asks(EndTalk())
    held.asks(GivePrompt("p2", "do"))
    held.machine.heard([TurnEnded(How.DONE)])
    held.machine.acts()
    held.machine.recorded(0)
    assert [type(each) for each in held.machine.acts()] == [TellOfPrompt]


def test_a_conversation_is_made_shorter_between_turns() -> None:
    held = Held()
    held.runs("p1")
    held.asks(Compact())
    held.asks(GivePrompt("p2", "do"))
    assert held.talker.told == ["p1"]
    held.machine.heard([TurnEnded(How.DONE)])
    held.machine.recorded(0)
    held.machine.acts()
    assert held.talker.told == ["p1", "compact"]
    held.machine.heard([TurnStarted(), TurnEnded(How.DONE)])
    held.machine.acts()
    held.machine.recorded(0)
    held.machine.acts()
    held.machine.ready("")
    assert held.talker.told == ["p1", "compact", "p2"]


def test_an_agent_that_died_gets_nothing_more() -> None:
    held = Held()
    held.asks(GivePrompt("p1", "do"))
    assert held.said("sending") == []
    held.machine.ended(1, "it died")
    held.machine.ready("")
    assert held.talker.told == []
    assert held.asks(GivePrompt("p2", "do")) == []
    assert held.machine.goes_on
