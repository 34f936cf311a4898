"""What a host does with requests, with what its agent says, and with what people answer.

It does no input and no output: it notes what happens in the story (`note`, which is on the disk
when it returns, if it is told so), tells the talker, and returns what else is to be done (`Act`).

One prompt is in flight. The recorder has heard of it, and it is noted as sent, right before the
agent gets it; until then it waits as the others do. The next one goes when its turn has ended and
is recorded.
"""

from collections import deque
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
    SessionChanged,
    Talker,
    Trouble,
    Troubled,
    TurnEnded,
    TurnStarted,
    Unread,
)
from siding.chat.events import (
    Answered,
    CompactAsked,
    Dropped,
    Edited,
    Ended,
    GoingBack,
    HandOverAsked,
    Held,
    HoldKept,
    Informed,
    Moved,
    NotBack,
    Proven,
    Put,
    Queued,
    Recorded,
    Requeued,
    Sending,
    SettingsAsked,
    StopAsked,
    SwitchAsked,
    Unsure,
    WentBack,
    WentOn,
)
from siding.chat.requests import (
    FIRST,
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
    SteerPrompt,
    StopTurn,
    SwitchTo,
)
from siding.chat.requests import (
    Asked as AskedFor,
)
from siding.chat.talk import Lasting, Talk, Waiting
from siding.ground.namedtuples import NamedTuple

# Adds an event to the story and returns where the conversation stands then.
Note = Callable[..., Talk]
_ONCE = Lasting()
_HOLDS = frozenset({Trouble.LIMIT, Trouble.LOGIN})
_DOES_NOT_STOP = (
    "the agent was told to stop and goes on; "
    "`siding chat end --now` ends it with all that it has started"
)

_BEGAN_ANEW = "it was started anew, and knows nothing of what was said before"


class TellOfPrompt(NamedTuple):
    """The recorder is to hear of a prompt; `ready` is to be called then."""

    prompt: Waiting


class TellOfNone(NamedTuple):
    """The prompt of which the recorder has heard does not go; `recorded` is to be called then."""


class TellOfEnd(NamedTuple):
    """The recorder is to hear that a turn has ended; `recorded` is to be called then."""

    how: How


class PutAsk(NamedTuple):
    """A person, or the policy, is to be asked; `answered` is to be called then."""

    asked: Asked


class WithdrawAsk(NamedTuple):
    """Nobody needs to answer any more."""

    ask: str


class CloseAgent(NamedTuple):
    """The agent is to be ended: it has nothing to do. `now`: whatever it does."""

    now: bool = False


class Interrupt(NamedTuple):
    """The agent's process is to be sent SIGINT."""


class AwaitStop(NamedTuple):
    """The agent was told to stop; `stop_is_late` is to be called if it has not done so in time."""


Act = (
    TellOfPrompt
    | TellOfNone
    | TellOfEnd
    | PutAsk
    | WithdrawAsk
    | CloseAgent
    | Interrupt
    | AwaitStop
)


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
        # What the recorder is to hear: a prompt, or that there is none any more.
        self._hears: deque[Waiting | None] = deque()
        self.going: Waiting | None = None  # goes to the agent when the recorder has heard of it
        self._is_stopping = False  # the agent was told to
        self._is_stop_late = False
        self._closes = False
        self._is_closing = False
        self._compacts = False  # it is to be told to
        self._is_compacting = False
        self._has_sent = False
        self.hands_over: HandOver | None = None  # the agent's own screen is wanted
        self._goes_back = False  # its agent is to make room for one that has gone back
        # A prompt came when it was too late for this agent, or is for one that has gone back.
        self.goes_on = False

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
            case SteerPrompt(prompt):
                self._steer(prompt, asked.id)
            case StopTurn():
                self._stop(by, asked.id)
            case GoOn():
                self._note(WentOn(by), asked.id)
            case Change(model, mode, effort):
                self._note(SettingsAsked(model, mode, effort, by), asked.id)
                self._talker.set(model=model, mode=mode, effort=effort)
            case Compact():
                self._note(CompactAsked(by), asked.id)
                self._compacts = True
            case EndTalk(now):
                self._close(now=now)
            case HandOver():
                self.hands_over = request
                self._note(HandOverAsked(by), asked.id)
            case Stay():
                if not self._is_closing:
                    self.hands_over = None
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
            case GivePrompt(_, words, files, steers, remembers):
                self._note(Queued(prompt, words, files, steers, by, remembers), asked)
                self._closes = False
                self.goes_on |= self._is_closing or not self.talk.is_held_by_host
                if self.talk.is_paused and not self.talk.until:
                    self._note(WentOn(by))
                if steers:
                    self._steer(prompt)
            case EditPrompt(_, words) if waits:
                self._note(Edited(prompt, words, by), asked)
            case MovePrompt(_, before) if waits:
                self._move(prompt, before, by, asked)
            case DropPrompt() if waits or is_unsure:
                self._note(Dropped(prompt, by), asked)
            case SendAgain() if is_unsure:
                self._note(Requeued(prompt, f"{by} has it sent again"), asked)
            case _:
                pass  # it has gone to the agent meanwhile

    def _move(self, prompt: str, before: str, by: str, asked: str) -> None:
        if before == FIRST:
            before = self.talk.queue[0].prompt
        if not before or self.talk.waiting(before) is not None:  # else it has gone meanwhile
            self._note(Moved(prompt, before, by), asked)

    def answered(self, ask: str, answer: Answer, by: str, lasting: Lasting = _ONCE) -> None:
        """Give the agent an answer; the first one counts."""
        if not any(each.ask == ask for each in self.talk.asks):
            return
        allows, always, reason, choices = answer
        answered = Answered(ask, allows, always, reason, choices, by, *lasting)
        self._note(answered, now=True)
        self._talker.answer(ask, answer)

    def put(self, put: Put) -> None:
        """Take note of the decision as which something was put to a person."""
        self._note(put)

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
            case Troubled(trouble, message, until):
                self._note(event)
                self._is_compacting = False
                if trouble in _HOLDS and (self.talk.queue or until):
                    self._note(Held(message, until))
            case Opened():
                self._note(event, now=True)
                self._opened()
            case _:
                self._note(event)

    def _opened(self) -> None:
        """Say what the agent does not know that is ready now."""
        back = self.talk.back
        if back is not None and not back.is_said:
            went = WentBack(self.talk.agent, *back[1:5])
            self._note(went, now=True)
        if self.talk.turns and not self._talker.abilities.remembers:
            self._note(Troubled(Trouble.OTHER, _BEGAN_ANEW))

    def _turn_ended(self, event: TurnEnded) -> None:
        for each in self.talk.asks:
            self._acts.append(WithdrawAsk(each.ask))
        left = [each.prompt for each in self.talk.steered]
        self._is_stopping = self._is_stop_late = self._is_compacting = False
        self._note(event, now=True)
        for prompt in reversed(left):
            self._note(Requeued(prompt, "the turn ended before the agent had taken it"))
        self._tell(TellOfEnd(event.how), None)

    def waited(self) -> None:
        """Go on: the moment has come until which what waits was held."""
        if self.talk.is_paused and self.talk.until:
            self._note(WentOn("siding"), now=True)
            self._go_on()

    def ended(self, exit_code: int | None, reason: str) -> None:
        """Take note that the agent has ended. What it had and has not said is found out later."""
        self._note(Ended(exit_code, reason, self._is_closing), now=True)
        self.going, self._is_stopping = None, False

    def ready(self, news: str) -> None:
        """Give the agent the prompt of which the recorder has heard. `news` is what it is to know
        before: what was taken back of its work."""
        heard = self._hears.popleft()
        assert heard is not None
        self._recheck()
        if heard is self.going:
            self.going = None
            self._has_sent = True
            self._note(Sending(heard.prompt), now=True)
            if news and self._talker.abilities.takes_news:
                self._note(Informed(heard.prompt, news), now=True)
            self._talker.prompt(heard.prompt, self._parts_of(self.talk.sent or heard))
        self._go_on()

    def goes_back(self, going: GoingBack) -> None:
        """Have the agent make room for one that has gone back; the prompt of which the recorder
        has heard waits for that."""
        heard = self._hears.popleft()
        assert heard is not None
        self._recheck()
        if heard is self.going:
            self.going = None
            self._note(going, now=True)
            self._goes_back = self.goes_on = True
            self._tell(TellOfNone(), None)
        self._go_on()

    def stays(self, stays: NotBack) -> None:
        """Take note that the agent does not go back."""
        self._note(stays, now=True)

    def recorded(self, step: int) -> None:
        """Go on after a turn: it is recorded as this step; 0 for none."""
        heard = self._hears.popleft()
        assert heard is None
        if step:
            self._note(Recorded(step))
        self._go_on()

    def begins_anew(self) -> None:
        """Leave the agent's conversation, in which nothing was said: the next agent begins one."""
        self._note(SessionChanged(""), now=True)
        self.goes_on = True

    def stop_is_late(self) -> None:
        """Say that the agent has not stopped, if it has not."""
        if self._is_stopping:
            self._is_stop_late = True
            self._note(Troubled(Trouble.OTHER, _DOES_NOT_STOP))

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
        self._recheck()
        talk = self.talk
        is_at_work = talk.is_running or talk.sent is not None or self._is_compacting
        if is_at_work or self._hears or self._is_closing or not talk.is_held_by_host:
            return
        can_send = bool(talk.queue) and not (talk.is_paused or talk.unsure)
        # What the agent was started for comes first.
        closes = self._closes and not (can_send and not self._has_sent)
        if closes or self._is_to_leave():
            self._closes, self._is_closing = False, True
            self._acts.append(CloseAgent())
            return
        if not talk.is_open:
            return
        if self._compacts:
            self._compacts = False
            self._compact()
            return
        if not can_send:
            return
        self.going = talk.queue[0]
        self._tell(TellOfPrompt(self.going), self.going)

    def _recheck(self) -> None:
        """Take back what the recorder has heard of, if it is not what the agent gets next."""
        talk = self.talk
        is_next = talk.queue[:1] == (self.going,) and not (talk.is_paused or self._is_closing)
        if self.going is not None and not is_next:
            self.going = None
            self._tell(TellOfNone(), None)

    def _tell(self, act: TellOfPrompt | TellOfNone | TellOfEnd, heard: Waiting | None) -> None:
        self._hears.append(heard)
        self._acts.append(act)

    def _is_to_leave(self) -> bool:
        """Tell whether the agent is to make room for its own screen, or for another agent. What it
        has in the background may keep it.
        """
        if self._goes_back:
            return True
        talk, hands_over = self.talk, self.hands_over
        leaves = talk.switching or hands_over
        if leaves is None:
            return False
        if not talk.background or leaves.forced:
            return True
        self.hands_over = None
        self._note(HoldKept(talk.background), now=True)
        return False

    def _steer(self, prompt: str, asked: str = "") -> None:
        """Give a prompt that waits into the running turn, if there is one that takes it."""
        talk, going = self.talk, self.talk.waiting(prompt)
        can = talk.is_running and not talk.is_stopping and self._talker.abilities.steers
        if can and going is not None:
            self._note(Sending(prompt, steers=True), asked, now=True)
            self._talker.steer(prompt, self._parts_of(going))

    def _stop(self, by: str, request: str) -> None:
        waiting = [each.prompt for each in self.talk.queue]
        for prompt in waiting:
            self._note(Dropped(prompt, by))
        self._note(StopAsked(by), request)
        self._compacts = False
        if self.talk.is_running or self.talk.sent is not None or self._is_compacting:
            self._stop_agent()

    def _stop_agent(self) -> None:
        by_signal = not self._talker.abilities.stops
        if not self._is_stopping or self._is_stop_late:
            self._talker.stop()
        if by_signal:
            self._acts.append(Interrupt())
        if not self._is_stopping or self._is_stop_late:
            self._is_stopping, self._is_stop_late = True, False
            self._acts.append(AwaitStop())

    def _close(self, *, now: bool) -> None:
        if now:
            self._is_closing = True
            self._acts.append(CloseAgent(now=True))
        else:
            self._closes = True

    def _compact(self) -> None:
        if self._talker.abilities.compacts:
            self._is_compacting = True
            self._talker.compact()
        else:
            self._note(Troubled(Trouble.OTHER, "this agent cannot make its conversation shorter"))
            self._go_on()

    def _note(self, event: Any, request: str = "", *, now: bool = False) -> None:
        """Add to the story; `now` if it has to be on the disk before anything else is done.

        The effect of a request has not: the request is, until whoever took it has synced the story.
        """
        self.talk = self._add(event, request, now=now)
