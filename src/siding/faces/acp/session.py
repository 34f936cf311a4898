"""One session of a client: a conversation as its story says, and what the client waits for.

A prompt is queued; its answer is sent when its turn has ended, whoever else gave prompts meanwhile.
What the agent asks is sent to the client once it is put to a person. Whoever answers first, here or
elsewhere, counts; a request that was answered elsewhere is taken back.
"""

from collections.abc import Sequence
from typing import Any

from siding.agents.talking.rpc import Rpc, RpcAnswer
from siding.asking.decisions.record import AlreadyClosed
from siding.chat.ends import (
    SETTLED,
    SETTLES_WITHIN_S,
    Cause,
    Outcome,
    PromptEnd,
    end_in,
)
from siding.chat.state import after
from siding.chat.talk import OpenAsk, Talk
from siding.faces.acp.blocks import said_in
from siding.faces.acp.faults import AUTH_REQUIRED, INTERNAL, INVALID
from siding.faces.acp.forms import form_of, reply_in_form
from siding.faces.acp.options import options_of
from siding.faces.acp.permissions import can_be_put, reply_in, request_of
from siding.faces.acp.ports import Desk, Opened
from siding.faces.acp.updates import ClientCan, Line, Update, Updates
from siding.ground.errors import SidingError
from siding.ground.namedtuples import NamedTuple

_MOST_STARTS = 3  # of a host for the same prompts
# The words of the protocol for why a turn failed.
_STOPS = {
    Cause.REFUSAL: "refusal",
    Cause.TOKENS: "max_tokens",
    Cause.REQUESTS: "max_turn_requests",
}
_SHUTS_OUT = {"login": AUTH_REQUIRED, "trust": INTERNAL, "no-session": INTERNAL}


class _Wish(NamedTuple):
    """A change of the mode, say, that a client waits for. `is_asked`: the story has it."""

    ask: str
    kind: str
    value: str
    is_option: bool = False  # the answer has all options
    is_asked: bool = False


class Session:
    """A session. `opening` is the request that waits for it to be open."""

    def __init__(
        self, opened: Opened, rpc: Rpc, desk: Desk, can: ClientCan, *, opening: str, is_new: bool
    ) -> None:
        self.opened = opened
        self.talk = Talk()
        self._rpc, self._desk, self._can = rpc, desk, can
        self._updates = Updates(
            opened.workspace, can, lambda name: desk.picture(opened.session, name)
        )
        self._opening, self._is_new = opening, is_new
        self._tells = True
        self._echoes = True  # the story is being told: prompts of this client as well
        self._held: list[Update] = []  # what the client gets when it knows the session
        self._prompts: dict[str, str] = {}  # which request waits for which prompt
        self._cancelled: set[str] = set()
        self._ended: list[tuple[str, PromptEnd]] = []  # whose turn is being recorded
        self._ended_at: float | None = None
        self._requests: dict[int, str] = {}  # what the client is asked: our id, the agent's
        self._wishes: list[_Wish] = []
        self._chosen: dict[str, str] = {}  # by this client
        self._options: list[dict[str, Any]] = []  # as the client was told last
        self._trouble = ""
        self._starts = 0  # of hosts since a turn has begun

    @property
    def is_waited_for(self) -> bool:
        """Whether the client waits for something that only a host can bring."""
        return bool(self._prompts or self._wishes or (self._opening and self._is_new))

    def tells_nothing(self) -> None:
        """Keep the story from the client: it has it."""
        self._tells = False

    def take_over(self, before: "Session") -> None:
        """Go on with what the client waits for in the same session, which it opens once more."""
        self._prompts |= before._prompts
        self._cancelled |= before._cancelled
        self._wishes += before._wishes
        for number in before._requests:
            self._take_back(number)

    # -- The story ---------------------------------------------------------------------------------

    def told(self, line: Line) -> None:
        """Take the next line of the story."""
        before, self.talk = self.talk, after(self.talk, line)
        event = line.get("event")
        echoes = self._echoes or str(line.get("prompt")) not in self._prompts
        updates = self._updates.told(line, before, echoes=echoes)
        if event in ("tool-ended", "turn-ended", "asked"):
            self.flush()
        self._update(updates)
        self._settle_prompts(line, before)
        self._settle_wishes(line)
        self._tell_options()
        if event == "put" and not self._echoes:
            self._put(str(line.get("ask")))
        open_asks = {each.ask for each in self.talk.asks}
        for number in [n for n, ask in self._requests.items() if ask not in open_asks]:
            self._take_back(number)
        if self._opening and self._is_new:
            self._begin(line)

    def caught_up(self) -> None:
        """Take note that the lines that were there are told."""
        self.flush()
        if not self._echoes:
            return
        self._echoes = False
        if self._opening and not self._is_new:
            self._answer_opening()
        self._tell_options()
        for each in self.talk.asks:
            if each.decision:
                self._put(each.ask)

    def flush(self) -> None:
        self._update(self._updates.flushed())

    def _update(self, updates: Sequence[Update]) -> None:
        if not self._tells and self._echoes:
            return
        for update in updates:
            if self._opening and self._is_new:
                self._held.append(update)
            else:
                params = {"sessionId": self.opened.session, "update": update}
                self._rpc.notify("session/update", params)

    def remark(self, said: str) -> None:
        self._update(self._updates.remark(said))

    def remark_once_open(self, said: str) -> None:
        """Say something when the client knows the session."""
        self._held += self._updates.remark(said)

    # -- Its beginning -----------------------------------------------------------------------------

    def _begin(self, line: Line) -> None:
        """Answer that it has begun once the agent is open, or that it has not."""
        match line.get("event"):
            case "opened":
                self._answer_opening()
            case "troubled":
                self._trouble = str(line.get("message", ""))
                code = _SHUTS_OUT.get(str(line.get("trouble")))
                if code is not None:
                    self.give_up(self._trouble, code)
            case "ended":
                reason = line.get("reason") or self._trouble or f"exit {line.get('exit_code')}"
                self.give_up(f"the agent has ended before it was ready: {reason}", INTERNAL)

    def give_up(self, why: str, code: int = INTERNAL) -> None:
        """Refuse what waits for the agent to be ready, and end it."""
        if self._opening and self._is_new:
            self._rpc.refuse(self._opening, code, f"{self.opened.agent}: {why}")
            self._opening = ""
            self._desk.end(self.opened.session)

    def _answer_opening(self) -> None:
        place = self.opened
        about = {"task": place.task, "chat": place.chat, "workspace": place.workspace}
        result: dict[str, Any] = {"_meta": {"siding": {**about, "agent": place.agent}}}
        if self._is_new:
            result["sessionId"] = place.session
        self._options = self._present_options()
        if self._options:
            result["configOptions"] = self._options
        mode, modes = self.talk.mode, self._updates.choosable.modes
        if mode and modes:
            known = modes if mode in modes else (mode, *modes)
            available = [{"id": each, "name": each} for each in known]
            result["modes"] = {"currentModeId": mode, "availableModes": available}
        self._rpc.answer(self._opening, result)
        self._opening = ""
        if not self._tells and self._updates.commands:
            commands = {"availableCommands": self._updates.commands}
            self._update([{"sessionUpdate": "available_commands_update", **commands}])
        held, self._held = self._held, []
        self._update(held)

    # -- Prompts -----------------------------------------------------------------------------------

    def prompt(self, ask: str, blocks: object) -> None:
        """Queue a prompt. Raises SidingError."""
        said = said_in(blocks, self.opened.root)
        self._starts = 0
        self._prompts[self._desk.give(self.opened.session, said)] = ask

    def cancel(self) -> None:
        """Stop the turn, and drop what waits."""
        self._cancelled |= self._prompts.keys()
        self._desk.stop(self.opened.session)

    def cancel_request(self, ask: str) -> bool:
        """Cancel the prompt that a request waits for; tell whether there is one."""
        found = [prompt for prompt, each in self._prompts.items() if each == ask]
        for prompt in found:
            self._cancelled.add(prompt)
            if self.talk.sent is not None and self.talk.sent.prompt == prompt:
                self._desk.stop(self.opened.session)
            else:
                self._desk.drop(self.opened.session, prompt)
        return bool(found)

    def tick(self, *, has_host: bool, now_s: float) -> None:
        """See to it that there is a host while the client waits for one."""
        if self._ended:
            self._ended_at = now_s if self._ended_at is None else self._ended_at
            if now_s > self._ended_at + SETTLES_WITHIN_S:
                self._settle()
        if has_host or not (self._prompts or self._wishes):
            return
        self._starts += 1
        if self._starts > _MOST_STARTS:
            self._fail(self._trouble or "its agent ends each time that it is started")
            return
        try:
            self._desk.hold(self.opened.session)
        except SidingError as error:
            self._fail(error.message)

    def _fail(self, why: str) -> None:
        """Refuse what the client waits for; no prompt of it is given to an agent later."""
        for prompt in list(self._prompts):
            self._desk.drop(self.opened.session, prompt)
            self._refuse(prompt, f"the prompt was not carried out: {why}")
        wishes, self._wishes = self._wishes, []
        for wish in wishes:
            self._rpc.refuse(wish.ask, INTERNAL, why)

    def _settle_prompts(self, line: Line, before: Talk) -> None:
        event = line.get("event")
        if event == "turn-started":
            self._starts = 0
        elif event == "troubled":
            self._trouble = str(line.get("message", ""))
        elif event == "ended":
            self._trouble = str(line.get("reason") or self._trouble)
        if event in SETTLED:
            self._settle()
        found = end_in(line, before, self.talk)
        if found is None or found[0] not in self._prompts:
            return
        if event == "turn-ended":
            self._ended.append(found)
        else:
            self._end_prompt(*found)

    def _settle(self) -> None:
        """Answer the prompts whose turn has ended: it is recorded, so that it can be undone."""
        ended, self._ended, self._ended_at = self._ended, [], None
        for prompt, end in ended:
            if prompt in self._prompts:
                self._end_prompt(prompt, end)

    def _end_prompt(self, prompt: str, end: PromptEnd) -> None:
        match end.outcome:
            case Outcome.DONE:
                is_cancelled = prompt in self._cancelled
                self._answer(prompt, "cancelled" if is_cancelled else "end_turn")
            case Outcome.STOPPED | Outcome.DROPPED:
                self._answer(prompt, "cancelled")
            case Outcome.UNSURE:
                self._refuse(prompt, f"{end.reason}; `siding chat show` has what it did")
            case Outcome.FAILED if end.cause in _STOPS:
                self._answer(prompt, _STOPS[end.cause])
            case Outcome.FAILED:
                why = end.reason or self._trouble or "the agent has not said why"
                self._refuse(prompt, f"the turn failed: {why}")

    def _answer(self, prompt: str, stop: str) -> None:
        self.flush()
        self._rpc.answer(self._prompts.pop(prompt), {"stopReason": stop})
        self._cancelled.discard(prompt)

    def _refuse(self, prompt: str, why: str) -> None:
        if prompt in self._cancelled:  # a client takes any other answer for a failure
            self._answer(prompt, "cancelled")
        else:
            self._rpc.refuse(self._prompts.pop(prompt), INTERNAL, why)

    # -- What the agent asks -----------------------------------------------------------------------

    def _put(self, ask: str) -> None:
        found = self._open_ask(ask)
        if found is None:
            return
        asked = found.said
        call = str(asked.get("call", ""))
        known = self._updates.shown_id(call) if call else ""
        if asked.get("choices") and self._can.forms:
            method, params = "elicitation/create", form_of(asked, known)
        elif can_be_put(asked):
            method = "session/request_permission"
            params = request_of(found, known, self.opened.workspace)
        else:
            self.remark(f"It asks: {found.title}\n{_elsewhere(found)}")
            return
        params = {"sessionId": self.opened.session, **params}
        self._requests[self._rpc.request(method, params, self.opened.session)] = ask

    def answered(self, number: int, answer: RpcAnswer) -> None:
        """Take what the client answers to a request for permission, or to a form."""
        found = self._open_ask(self._requests.pop(number, ""))
        if found is None:
            return
        read = reply_in_form if answer.method == "elicitation/create" else reply_in
        reply = read(found.said, answer.fields) if answer.fault is None else None
        if reply is None:
            if not self.talk.is_stopping and not self._cancelled:
                self.remark(f"It still waits for an answer: {found.title}\n{_elsewhere(found)}")
            return
        try:
            self._desk.answer(self.opened.session, found, reply)
        except AlreadyClosed:
            pass  # somebody else was first
        except SidingError as error:
            self.remark(f"The answer was not taken: {error.message}\n{_elsewhere(found)}")

    def _open_ask(self, ask: str) -> OpenAsk | None:
        return next((each for each in self.talk.asks if each.ask == ask), None)

    def _take_back(self, number: int) -> None:
        self._requests.pop(number, None)
        if self._rpc.forget(number):
            self._rpc.notify("$/cancel_request", {"requestId": number})

    # -- Options, its end --------------------------------------------------------------------------

    def set_mode(self, ask: str, mode: str) -> None:
        """Change the mode. The answer is sent when the agent has said so. Raises SidingError."""
        self._set(_Wish(ask, "mode", mode))

    def set_option(self, ask: str, kind: str, value: str) -> None:
        """Change an option. The answer, with all of them, is sent when the agent has said so.

        Raises SidingError.
        """
        self._set(_Wish(ask, kind, value, is_option=True))

    def _set(self, wish: _Wish) -> None:
        choosable, kind = self._updates.choosable, wish.kind
        known = [each.value for each in choosable.values(kind, self.talk, self._chosen)]
        if wish.value not in known:
            has = f"it has: {', '.join(known)}" if known else "it has none that can be set"
            self._rpc.refuse(wish.ask, INVALID, f"there is no {kind} {wish.value!r}; {has}")
            return
        self._desk.set(self.opened.session, kind, wish.value)
        self._chosen[kind] = wish.value
        self._wishes.append(wish)

    def _settle_wishes(self, line: Line) -> None:
        if not self._wishes:
            return
        first, *rest = self._wishes
        event = line.get("event")
        if event == "settings-asked":
            self._wishes = [
                each._replace(is_asked=True) if line.get(each.kind) == each.value else each
                for each in self._wishes
            ]
        elif event == "applied" and (first.is_asked or line.get(first.kind) == first.value):
            self._wishes = rest
            if first.is_option:
                self._options = self._present_options()
            self._rpc.answer(first.ask, {"configOptions": self._options} if first.is_option else {})
        elif event == "troubled" and first.is_asked:
            self._wishes = rest
            self._chosen.pop(first.kind, None)
            self._rpc.refuse(first.ask, INTERNAL, str(line.get("message", "")))

    def _present_options(self) -> list[dict[str, Any]]:
        return options_of(self._updates.choosable, self.talk, self._chosen)

    def _tell_options(self) -> None:
        """Tell the client what can be chosen, and what holds, where that has changed."""
        options = self._present_options()
        if not self._opening and not self._echoes and options != self._options:
            self._options = options
            update = {"sessionUpdate": "config_option_update", "configOptions": options}
            self._update([update])

    def close(self) -> None:
        """End what goes on, and the agent. The conversation stays."""
        for number in list(self._requests):
            self._take_back(number)
        for prompt in list(self._prompts):
            self._cancelled.add(prompt)
            self._answer(prompt, "cancelled")
        self._desk.stop(self.opened.session)
        self._desk.end(self.opened.session)


def _elsewhere(found: OpenAsk) -> str:
    return f"Answer it with `siding decide answer {found.decision}`, or in `siding inbox`."
