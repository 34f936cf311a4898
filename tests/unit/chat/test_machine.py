"""A conversation over random acts, and kills of the agent and of its host at any moment.

Whatever happens: a prompt is at one place, none is lost, none is given twice that the agent's
record proves taken, one is in flight at a time, and no ask is answered twice.
"""

from collections import Counter
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from siding.agents.talking.abilities import Abilities
from siding.agents.talking.port import (
    Answer,
    Asked,
    AskGone,
    Event,
    How,
    Opened,
    Origin,
    Parts,
    PromptTaken,
    Proof,
    Text,
    TurnEnded,
    TurnStarted,
)
from siding.chat.events import Began, GoingBack, Hosted, record_of
from siding.chat.machine import (
    CloseAgent,
    Machine,
    PutAsk,
    TellOfEnd,
    TellOfNone,
    TellOfPrompt,
    WithdrawAsk,
)
from siding.chat.requests import (
    Asked as Request,
)
from siding.chat.requests import (
    DropPrompt,
    EditPrompt,
    GivePrompt,
    MovePrompt,
    SendAgain,
    SteerPrompt,
    StopTurn,
)
from siding.chat.settling import on_their_way
from siding.chat.state import after, folded
from siding.chat.talk import Talk, Waiting

NEWS = "While you waited, your work was taken back."


class Agent:
    """What an agent's process and its record would be; the record outlives the process."""

    def __init__(self, *, proves: bool) -> None:
        self.proves = proves
        self.record: list[str] = []  # prompts that it has taken, as it wrote them down
        self.answers: list[str] = []

    def proof(self, prompt: str) -> Proof:
        if not self.proves:
            return Proof.UNSURE
        return Proof.TAKEN if prompt in self.record else Proof.NOT_TAKEN


class ScriptedTalker:
    """A talker whose agent does what the test says."""

    def __init__(self, agent: Agent) -> None:
        self.abilities = Abilities(steers=True)
        self.session = "s"
        self.agent = agent
        self.newest: Parts = ()
        self.inbox: list[str] = []  # sent, and not read by the agent
        self.steers: list[str] = []
        self.stopped = False

    def to_send(self) -> bytes:
        return b""

    def receive(self, data: bytes) -> list[Event]:
        del data
        return []

    def prompt(self, prompt_id: str, parts: Parts) -> None:
        assert not self.inbox
        self.newest = parts
        self.inbox.append(prompt_id)

    def steer(self, prompt_id: str, parts: Parts) -> None:
        del parts
        self.steers.append(prompt_id)

    def stop(self) -> None:
        self.stopped = True

    def answer(self, ask: str, answer: Answer) -> None:
        del answer
        self.agent.answers.append(ask)

    def set(self, *, model: str = "", mode: str = "", effort: str = "") -> None:
        del model, mode, effort

    def compact(self) -> None:
        return


class Conversation(RuleBasedStateMachine):
    """The story is the only thing that a host leaves behind."""

    def __init__(self) -> None:
        super().__init__()
        self.story: list[dict[str, Any]] = []
        self.durable = 0  # lines that a kill of the host cannot take away
        self.agent = Agent(proves=True)
        self.again: set[str] = set()  # what a person had sent again
        self.given: dict[str, str] = {}
        self.number = 0
        self.asks = self.hosts = 0
        self.places = {"", "s"}  # the agent's conversations of which it has a record
        self.ran: Counter[str] = Counter()
        self.add(Began("scripted", ("scripted",)), now=True)
        self.host()

    @initialize(proves=st.booleans())
    def agent_is(self, proves: bool) -> None:
        self.agent.proves = proves

    def add(self, event: Any, request: str = "", *, now: bool = False) -> Talk:
        record = {"seq": len(self.story) + 1, **record_of(event)}
        if request:
            record["request"] = request
        self.story.append(record)
        if now:
            self.durable = len(self.story)
        return folded(self.story)

    def host(self) -> None:
        """Begin to hold the agent, as a host does."""
        talk = folded(self.story)
        assert talk.kept_session in self.places, "nothing was kept of that conversation"
        self.talker = ScriptedTalker(self.agent)
        self.machine = Machine(talk, self.talker, self.add, self.parts)
        for each in on_their_way(talk):
            self.machine.proven(each.prompt, self.agent.proof(each.prompt))
        self.machine.cut_off("its host was killed")
        self.machine.talk = self.add(Hosted("r1", "s"), now=True)
        self.tells: list[TellOfPrompt | TellOfNone | TellOfEnd] = []
        self.open_asks: list[str] = []
        self.turn, self.is_closing = "", False
        self.hosts += 1
        talk = self.machine.talk  # a prompt may have been taken where it had gone back to
        self.machine.heard([Opened(f"s{self.hosts}" if talk.back else talk.session or "s")])
        self.act()

    def parts(self, waiting: Waiting) -> Parts:
        return (waiting.said(),)

    def act(self) -> None:
        for act in self.machine.acts():
            match act:
                case TellOfPrompt() | TellOfNone() | TellOfEnd():
                    self.tells.append(act)
                case PutAsk(asked):
                    self.open_asks.append(asked.ask)
                case WithdrawAsk(ask):
                    if ask in self.open_asks:
                        self.open_asks.remove(ask)
                case CloseAgent():
                    self.is_closing = True
                case _:
                    pass

    def heard(self, *events: Event) -> None:
        self.machine.heard(events)
        self.act()

    def request(self, request: Any) -> None:
        self.number += 1
        self.machine.asked_for(Request(f"q{self.number}", request, "me"))
        self.act()
        self.durable = len(self.story)

    # -- people ------------------------------------------------------------------------------------

    @rule(steers=st.booleans())
    def give(self, steers: bool) -> None:
        prompt = f"p{len(self.given)}"
        self.given[prompt] = "waits"
        self.request(GivePrompt(prompt, f"do {prompt}", steers=steers))

    @rule(data=st.data())
    def change(self, data: st.DataObject) -> None:
        if not self.given:
            return
        prompt = data.draw(st.sampled_from(sorted(self.given)))
        other = data.draw(st.sampled_from(["", *sorted(self.given)]))
        talk = self.machine.talk
        waits = talk.waiting(prompt) is not None
        is_unsure = any(each.prompt == prompt for each in talk.unsure)
        kind = data.draw(st.sampled_from(["edit", "move", "drop", "steer", "again"]))
        if kind == "edit":
            self.request(EditPrompt(prompt, "do something else"))
        elif kind == "move":
            self.request(MovePrompt(prompt, other))
        elif kind == "steer":
            self.request(SteerPrompt(prompt))
        elif kind == "drop":
            self.request(DropPrompt(prompt))
            if waits or is_unsure:
                self.given[prompt] = "dropped"
        else:
            if is_unsure:
                self.again.add(prompt)
            self.request(SendAgain(prompt))

    @rule()
    def stop(self) -> None:
        before = self.machine.talk
        dropped = [each.prompt for each in before.queue]
        self.given.update(dict.fromkeys(dropped, "dropped"))
        self.request(StopTurn())

    @precondition(lambda self: self.open_asks)
    @rule(twice=st.booleans())
    def answer(self, twice: bool) -> None:
        ask = self.open_asks[0]
        for _time in range(1 + twice):
            self.machine.answered(ask, Answer(allows=True), "me")
        if ask in self.open_asks:
            self.open_asks.remove(ask)
        self.act()

    # -- the recorder and the agent ----------------------------------------------------------------

    @precondition(lambda self: self.tells)
    @rule(goes_back=st.booleans())
    def told(self, goes_back: bool) -> None:
        match self.tells.pop(0):
            case TellOfPrompt(prompt):
                self.machine.ready(NEWS if goes_back else "")
                words = f"{NEWS}\n\n{prompt.text}" if goes_back else prompt.text
                # Else it was stopped, dropped, moved or edited meanwhile.
                assert self.talker.newest == (words,) or not self.talker.inbox
            case TellOfNone():
                self.machine.recorded(0)
            case TellOfEnd():
                self.machine.recorded(3 if goes_back else 0)
        self.act()

    @precondition(lambda self: self.tells and isinstance(self.tells[0], TellOfPrompt))
    @rule(is_killed=st.booleans(), breaks_promise=st.booleans())
    def goes_back(self, is_killed: bool, breaks_promise: bool) -> None:
        """Turns were taken back: the agent makes room for one that has gone back, or is killed."""
        self.tells.pop(0)
        came_from = self.machine.talk.kept_session
        begun = self.machine.talk.seq
        self.machine.goes_back(GoingBack("s", "an earlier prompt"))
        is_begun = any(each["event"] == "going-back" for each in self.story[begun:])
        self.act()
        while self.tells:
            self.told(goes_back=False)
        if not is_begun:  # the prompt had been dropped, moved or edited
            return
        assert self.machine.talk.kept_session == came_from
        if not is_killed:
            assert self.is_closing
            self.machine.ended(0, "")
            self.durable = len(self.story)
        self.kill_host()
        talk = self.machine.talk
        assert talk.back is not None, "a prompt was taken there, or what was begun is forgotten"
        assert talk.back.is_said
        assert talk.kept_session == came_from
        while breaks_promise and self.tells:
            self.told(goes_back=False)
        if breaks_promise and self.talker.inbox:
            self.promise_and_die()

    @precondition(lambda self: self.talker.inbox and not self.turn)
    @rule()
    def take(self) -> None:
        """The agent reads its prompt, writes it down, and says so."""
        self.turn = self.talker.inbox.pop()
        self.agent.record.append(self.turn)
        self.places.add(self.machine.talk.session)
        self.ran[self.turn] += 1
        self.heard(PromptTaken(self.turn), TurnStarted(self.turn))

    @precondition(lambda self: self.talker.inbox and not self.turn)
    @rule()
    def take_and_die(self) -> None:
        """It writes the prompt down and is killed before it says so."""
        prompt = self.talker.inbox.pop()
        self.agent.record.append(prompt)
        self.places.add(self.machine.talk.session)
        self.ran[prompt] += 1
        self.kill_host()

    @precondition(lambda self: self.talker.inbox and not self.turn)
    @rule()
    def promise_and_die(self) -> None:
        """It says that it has the prompt, and is killed before it writes it down."""
        prompt = self.talker.inbox.pop()
        self.heard(PromptTaken(prompt), TurnStarted(prompt))
        self.durable = len(self.story)
        self.kill_host()

    @precondition(lambda self: not self.turn)
    @rule(data=st.data())
    def turn_of_its_own(self, data: st.DataObject) -> None:
        """A shell in the background has ended; a prompt may come, or be on its way, meanwhile."""
        self.heard(TurnStarted(origin=Origin.ITSELF))
        if data.draw(st.booleans()):
            self.give(steers=False)
        while data.draw(st.booleans()) and self.tells:
            self.told(goes_back=False)
        self.heard(TurnEnded(How.DONE))

    @precondition(lambda self: self.turn)
    @rule()
    def say(self) -> None:
        self.heard(Text("words"))

    @precondition(lambda self: self.turn)
    @rule()
    def ask(self) -> None:
        self.asks += 1
        self.heard(Asked(f"a{self.asks}", "May it?"))

    @precondition(lambda self: self.open_asks)
    @rule()
    def ask_gone(self) -> None:
        self.heard(AskGone(self.open_asks[0]))

    @precondition(lambda self: self.turn and self.talker.steers)
    @rule()
    def take_steer(self) -> None:
        prompt = self.talker.steers.pop(0)
        self.agent.record.append(prompt)
        self.ran[prompt] += 1
        self.heard(PromptTaken(prompt))

    @precondition(lambda self: self.turn)
    @rule(how=st.sampled_from(How))
    def end_turn(self, how: How) -> None:
        self.turn, self.talker.steers = "", []
        self.heard(TurnEnded(how))

    @precondition(lambda self: not (self.turn or self.talker.inbox or self.tells))
    @rule()
    def turn_begins(self) -> None:
        """A prompt goes all its way to the agent, so that more happens within turns."""
        self.give(steers=False)
        while self.tells:
            self.told(goes_back=False)
        if self.talker.inbox:
            self.take()

    @precondition(lambda self: self.turn)
    @rule()
    def steer(self) -> None:
        self.give(steers=True)

    @rule()
    def kill_host(self) -> None:
        """What was not on the disk is gone, and so is the agent."""
        self.story = self.story[: self.durable]
        self.host()

    @rule()
    def kill_host_that_takes_a_prompt(self) -> None:
        """Its effect is not on the disk: the request is, and the next host carries it out."""
        prompt = f"p{len(self.given)}"
        self.given[prompt] = "waits"
        asked = Request(f"q-{prompt}", GivePrompt(prompt, f"do {prompt}"), "me")
        self.machine.asked_for(asked)
        self.act()
        self.kill_host()
        self.machine.asked_for(asked)
        self.act()
        self.durable = len(self.story)

    # -- laws --------------------------------------------------------------------------------------

    @invariant()
    def each_prompt_is_at_one_place(self) -> None:
        talk = self.machine.talk
        places = Counter(
            each.prompt
            for each in (
                *talk.queue,
                *talk.unsure,
                *talk.steered,
                *((talk.sent,) if talk.sent and not talk.is_taken else ()),
            )
        )
        assert not [prompt for prompt, count in places.items() if count > 1]
        for prompt, state in self.given.items():
            is_taken = prompt in self.agent.record
            if state == "waits":
                assert places[prompt] or is_taken, f"{prompt} is lost"
            else:
                assert not any(each.prompt == prompt for each in talk.queue)

    @invariant()
    def none_is_given_twice(self) -> None:
        assert {prompt for prompt, count in self.ran.items() if count > 1} <= self.again

    @invariant()
    def one_is_in_flight(self) -> None:
        assert len(self.talker.inbox) + bool(self.turn) <= 1

    @invariant()
    def nothing_is_steered_into_no_turn(self) -> None:
        talk = self.machine.talk
        assert talk.is_running or not talk.steered

    @invariant()
    def where_it_goes_back_its_record_has_nothing_yet(self) -> None:
        talk = self.machine.talk
        assert talk.back is None or not talk.is_taken or talk.is_running

    @invariant()
    def no_ask_is_answered_twice(self) -> None:
        assert max(Counter(self.agent.answers).values(), default=0) <= 1

    @invariant()
    def the_story_says_where_it_stands(self) -> None:
        talk = Talk()
        for line in self.story:
            talk = after(talk, line)
        assert talk == self.machine.talk


Conversation.TestCase.settings = settings(max_examples=100, stateful_step_count=40, deadline=None)
TestConversation = Conversation.TestCase
