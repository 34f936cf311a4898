"""What a host does with requests, with what its agent says, and with what people answer.

It does no input and no output: it notes what happens in the story (`note`, which is on the disk
when it returns, if it is told so), tells the talker, and returns what else is to be done (`Act`).

One prompt is in flight. It is noted as sent before the agent gets it, and the recorder has heard of
it; the next one goes when its turn has ended and is recorded.
"""

from collections.abc import Callable, Iterable
from typing import Any, assert_never

from siding.agents.talking.port import (
    Answer,
    Asked,
    AskGone,
    Event,
    How,
    Opened,
    Parts,
    Proof,
    Talker,
    Trouble,
    Troubled,
    TurnEnded,
    TurnStarted,
    Unread,
)
from siding.chat.events import (
    Answered,
    Dropped,
    Edited,
    Ended,
    Held,
    HoldKept,
    Moved,
    Proven,
    Put,
    Queued,
    Requeued,
    Sending,
    SettingsAsked,
    StopAsked,
    SwitchAsked,
    Unsure,
    WentOn,
)
from siding.chat.requests import (
    AnyPrompt,
    Change,
    Compact,
    DropPrompt,
    EditPrompt,
    EndTalk,
    GivePrompt,
    GoOn,
    HandOver,
    MovePrompt,
    SendAgain,
    Stay,
    StopTurn,
    SwitchTo,
)
from siding.chat.requests import (
    Asked as AskedFor,
)
from siding.chat.state import Talk, Waiting
from siding.ground.namedtuples import NamedTuple

# Adds an event to the story and returns where the conversation stands then.
Note = Callable[..., Talk]
_HOLDS = frozenset({Trouble.LIMIT, Trouble.LOGIN})


class TellOfPrompt(NamedTuple):
    """The recorder is to hear of a prompt; `told` is to be called then."""

    prompt: Waiting


class TellOfEnd(NamedTuple):
    """The recorder is to hear that a turn has ended; `told` is to be called then."""

    how: How


class PutAsk(NamedTuple):
    """A person, or the policy, is to be asked; `answered` is to be called then."""

    asked: Asked


class WithdrawAsk(NamedTuple):
    """Nobody needs to answer any more."""

    ask: str


class CloseAgent(NamedTuple):
    """The agent is to be ended."""


Act = TellOfPrompt | TellOfEnd | PutAsk | WithdrawAsk | CloseAgent


class Machine:
    """One conversation while a host holds its agent."""

    def __init__(
        self, talk: Talk, talker: Talker, note: Note, parts_of: Callable[[Waiting], Parts]
    ) -> None:
        self.talk = talk
        self._talker = talker
        self._add = note
        self._parts_of = parts_of
        self._acts: list[Act] = []
        self._tells: Waiting | None = None  # the recorder hears of its prompt
        self._is_ending = False  # the recorder hears of a turn's end
        self._closes = False
        self._hands_over: HandOver | None = None
        self._is_closing = False  # the agent is told to end: it gets no prompt any more

    @property
    def hands_over(self) -> bool:
        """Whether the agent's own screen is to be opened when it has ended."""
        return self._hands_over is not None

    def acts(self) -> list[Act]:
        """Return what is to be done now, and forget it."""
        acts, self._acts = self._acts, []
        return acts

    # -- what people want --------------------------------------------------------------------------

    def asked_for(self, asked: AskedFor) -> None:
        """Carry out a request."""
        by, request = asked.by, asked.request
        match request:
            case GivePrompt() | EditPrompt() | MovePrompt() | DropPrompt() | SendAgain():
                self._of_prompt(request, by, asked.id)
            case StopTurn():
                self._stop(by, asked.id)
            case GoOn():
                self._note(WentOn(by), asked.id)
            case Change(model, mode, effort):
                self._note(SettingsAsked(model, mode, effort, by), asked.id)
                self._talker.set(model=model, mode=mode, effort=effort)
            case Compact():
                self._talker.compact()
            case EndTalk():
                self._closes = True
            case HandOver():
                self._hands_over = request
            case Stay():
                if not self._is_closing:
                    self._hands_over = None
            case SwitchTo(agent, program, options, model, forced):
                self._note(SwitchAsked(agent, program, options, model, by, forced), asked.id)
            case _:
                assert_never(request)
        self._go_on()

    def _of_prompt(self, request: AnyPrompt, by: str, asked: str) -> None:
        prompt = request.prompt
        waits = self.talk.waiting(prompt) is not None
        is_unsure = any(each.prompt == prompt for each in self.talk.unsure)
        match request:
            case GivePrompt(_, words, files, steers):
                self._note(Queued(prompt, words, files, steers, by), asked)
                if self.talk.is_paused:
                    self._note(WentOn(by))
                if steers and self._can_steer():
                    self._steer(prompt)
            case EditPrompt(_, words) if waits:
                self._note(Edited(prompt, words, by), asked)
            case MovePrompt(_, before) if waits:
                self._note(Moved(prompt, before, by), asked)
            case DropPrompt() if waits or is_unsure:
                self._note(Dropped(prompt, by), asked)
            case SendAgain() if is_unsure:
                self._note(Requeued(prompt, f"{by} has it sent again"), asked)
            case _:
                pass  # it has gone to the agent meanwhile

    def answered(self, ask: str, answer: Answer, by: str) -> None:
        """Give the agent an answer; the first one counts."""
        if not any(each.ask == ask for each in self.talk.asks):
            return
        self._note(Answered(ask, answer.allows, answer.always, answer.reason, answer.choices, by))
        self._talker.answer(ask, answer)

    def put(self, ask: str, decision: str) -> None:
        """Take note of the decision as which something was put to a person."""
        self._note(Put(ask, decision))

    # -- what the agent says -----------------------------------------------------------------------

    def heard(self, events: Iterable[Event]) -> None:
        for event in events:
            self._heard(event)
        self._go_on()

    def _heard(self, event: Event) -> None:
        match event:
            case Unread():
                return
            case TurnStarted():
                self._note(event)
            case TurnEnded():
                self._turn_ended(event)
            case Asked():
                self._note(event, now=True)
                self._acts.append(PutAsk(event))
            case AskGone(ask):
                self._note(event)
                self._acts.append(WithdrawAsk(ask))
            case Troubled(trouble, message, _until):
                self._note(event)
                if trouble in _HOLDS and self.talk.queue:
                    self._note(Held(message))
            case _:
                self._note(event, now=isinstance(event, Opened))

    def _turn_ended(self, event: TurnEnded) -> None:
        for each in self.talk.asks:
            self._acts.append(WithdrawAsk(each.ask))
        left = [each.prompt for each in self.talk.steered]
        self._note(event, now=True)
        for prompt in reversed(left):
            self._note(Requeued(prompt, "the turn ended before the agent had taken it"))
        self._is_ending = True
        self._acts.append(TellOfEnd(event.how))

    def ended(self, exit_code: int | None, reason: str) -> None:
        """Take note that the agent has ended. What it had and has not said is found out later."""
        self._note(Ended(exit_code, reason), now=True)

    def told(self) -> None:
        """Go on: the recorder has heard what it was to be told."""
        if self._tells is not None:
            going, self._tells = self._tells, None
            self._talker.prompt(going.prompt, self._parts_of(going))
        else:
            self._is_ending = False
        self._go_on()

    # -- after a kill ------------------------------------------------------------------------------

    def proven(self, prompt: str, proof: Proof) -> None:
        """Settle a prompt that was on its way when its host or its agent was killed."""
        match proof:
            case Proof.TAKEN:
                self._note(Proven(prompt), now=True)
            case Proof.NOT_TAKEN:
                self._note(Requeued(prompt, "its agent ended before it had taken it"), now=True)
            case Proof.UNSURE:
                self._note(Unsure(prompt), now=True)
            case _:
                assert_never(proof)

    def cut_off(self, reason: str) -> None:
        """Take note that a turn was cut off with its agent."""
        if self.talk.is_running or self.talk.sent is not None:
            self._note(TurnEnded(How.FAILED, reason), now=True)

    # -- how ---------------------------------------------------------------------------------------

    def _go_on(self) -> None:
        """Send the next prompt if it is its turn, or end the agent if that is wanted."""
        talk = self.talk
        is_busy = talk.is_running or talk.sent is not None or self._tells or self._is_ending
        if is_busy or self._is_closing:
            return
        if self._is_wanted_closed():
            self._acts.append(CloseAgent())
            self._is_closing = True
            return
        if not talk.is_open:
            return
        if not talk.queue or talk.is_paused or talk.unsure:
            return
        going = talk.queue[0]
        self._note(Sending(going.prompt), now=True)
        self._tells = going
        self._acts.append(TellOfPrompt(going))

    def _is_wanted_closed(self) -> bool:
        """Tell whether the agent is to end now. What it has in the background may keep it."""
        talk, hands_over = self.talk, self._hands_over
        leaves = talk.switching or hands_over
        if self._closes or leaves is None:
            return self._closes
        if not talk.background or leaves.forced:
            return True
        self._hands_over = None
        self._note(HoldKept(talk.background), now=True)
        return False

    def _can_steer(self) -> bool:
        talk = self.talk
        return talk.is_running and not talk.is_stopping and self._talker.abilities.steers

    def _steer(self, prompt: str) -> None:
        going = self.talk.waiting(prompt)
        if going is not None:
            self._note(Sending(prompt, steers=True), now=True)
            self._talker.steer(prompt, self._parts_of(going))

    def _stop(self, by: str, request: str) -> None:
        waiting = [each.prompt for each in self.talk.queue]
        for prompt in waiting:
            self._note(Dropped(prompt, by))
        self._note(StopAsked(by), request)  # on the disk with what it drops
        if self.talk.is_running or self.talk.sent is not None:
            self._talker.stop()

    def _note(self, event: Any, request: str = "", *, now: bool = False) -> None:
        """Add to the story; `now` if it has to be on the disk before anything else is done."""
        self.talk = self._add(event, request, now=now or bool(request))
