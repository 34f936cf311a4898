"""Codex, held over `codex app-server`: JSON-RPC lines, in which a conversation is a thread.

Tried with 0.169 (and the spike with 0.171):

- The answer to `turn/start` comes before anything is stored. A prompt is taken when its item has
  started, which has our id of it.
- A second `turn/start` in a turn is a steer, and a steer that was answered is not taken before its
  item has started. One that has not is left when the turn ends.
- A turn can be interrupted once it has started, and not as soon as its id is known.
- A command that has run for a quarter of a second goes on after an interrupt, in the background.
  So those of a turn that was stopped are ended one by one; others that run there are left.
- What was asked may come, or be withdrawn, after the turn that asked has ended.
- A denial takes no reason. It is steered into the turn first, so that it is in the same request of
  the model as the denial.
- Of threads of helpers all is told as well, under their own ids.
"""

import base64
from collections.abc import Mapping
from typing import Any

from siding.agents.codex.approvals import answered, asked, takes_reason
from siding.agents.codex.going_back import way_back
from siding.agents.codex.models import offered_in
from siding.agents.codex.modes import MODES, PLAN, mode_of, settings_of
from siding.agents.codex.thread_events import ThreadEvents
from siding.agents.codex.troubles import Troubles, not_opened, reason_of
from siding.agents.talking.abilities import Abilities
from siding.agents.talking.port import (
    Answer,
    Applied,
    AskGone,
    CommandsChanged,
    Event,
    How,
    Opened,
    Origin,
    OwnCommand,
    Part,
    Parts,
    Picture,
    PromptTaken,
    Trouble,
    Troubled,
    TurnEnded,
    TurnStarted,
)
from siding.agents.talking.rpc import NO_METHOD, Rpc, RpcAnswer, RpcNotice, RpcRequest
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import mapping, mappings, said, text

_HOW = {"completed": How.DONE, "interrupted": How.STOPPED, "failed": How.FAILED}


class ThreadStart(NamedTuple):
    """The thread that is to be begun, or gone on with. "" is not given."""

    cwd: str
    session: str  # "" for a new one
    params: Mapping[str, Any]  # of `thread/start`
    before: str = ""  # the turn of it before which a fork goes on
    mode: str = ""
    effort: str = ""


class _Turn(NamedTuple):
    id: str
    prompt: str  # our id; "" if none of ours began it


class _Open(NamedTuple):
    """What Codex waits for."""

    method: str
    params: Mapping[str, Any]


class CodexTalker:
    """One app-server, with one thread. (`port.Talker`)"""

    def __init__(self, start: ThreadStart, abilities: Abilities) -> None:
        self.abilities = abilities
        self.session = ""
        self._start = start
        self._rpc = Rpc(version="")
        self._version = ""
        self._opening = 0  # requests whose answers `Opened` waits for
        self._commands: tuple[OwnCommand, ...] = ()
        self._applied = Applied()
        self._prompt = ""  # it was sent, and its turn has not ended
        self._prompts: dict[str, str] = {}  # our prompts, by the turns they will begin
        self._untaken: set[str] = set()  # prompts and steers
        self._steers: dict[str, Parts | None] = {}  # not taken; None: it was sent
        self._turn: _Turn | None = None
        self._is_stopping = False
        self._is_compacting = False
        self._to_end: set[str] = set()  # calls of commands that outlive the turn that was stopped
        self._asks: dict[str, _Open] = {}
        self._denials: dict[str, Answer] = {}  # by ask: their reasons are on their way
        self._thread = ThreadEvents()
        self._troubles = Troubles()
        client = {"name": "siding", "title": "Siding", "version": "1"}
        capabilities = {"experimentalApi": True}
        self._rpc.request("initialize", {"clientInfo": client, "capabilities": capabilities})

    def to_send(self) -> bytes:
        return self._rpc.to_send()

    def receive(self, data: bytes) -> list[Event]:
        found: list[Event] = []
        for message in self._rpc.receive(data):
            match message:
                case RpcAnswer():
                    found += self._answer(message)
                case RpcRequest():
                    found += self._request(message)
                case RpcNotice():
                    found += self._notice(message)
                case _:
                    found.append(message)
        return found

    # -- What is asked of it -----------------------------------------------------------------------

    def prompt(self, prompt_id: str, parts: Parts) -> None:
        self._prompt, self._is_stopping = prompt_id, False
        self._untaken.add(prompt_id)
        params = {"input": _input(parts), "clientUserMessageId": prompt_id}
        self._ask("turn/start", params, about=prompt_id)

    def steer(self, prompt_id: str, parts: Parts) -> None:
        self._steers[prompt_id] = parts
        self._untaken.add(prompt_id)
        self._send_steers()

    def stop(self) -> None:
        if self._prompt or self._turn is not None:
            self._is_stopping = True
            self._interrupt()

    def answer(self, ask: str, answer: Answer) -> None:
        waiting = self._asks.get(ask)
        if waiting is None or ask in self._denials or self._is_stopping:
            return
        if answer.reason and not answer.allows and takes_reason(*waiting):
            self._denials[ask] = answer
            params = {
                "threadId": waiting.params.get("threadId"),
                "expectedTurnId": waiting.params.get("turnId"),
                "input": _input([f"That was not allowed: {answer.reason}"]),
            }
            self._rpc.request("turn/steer", params, about=ask)
            return
        self._reply(ask, answer)

    def set(self, *, model: str = "", mode: str = "", effort: str = "") -> None:
        wanted = said(model=model, effort=effort)
        now = self._applied
        if mode:
            wanted |= settings_of(mode, model or now.model, effort or now.effort)
        # Of settings that are so already nothing is told.
        is_so = now == Applied(model or now.model, mode or now.mode, effort or now.effort)
        self._ask("thread/settings/update", wanted, about="is so" if is_so else "")

    def compact(self) -> None:
        self._is_compacting = True
        self._ask("thread/compact/start", {})

    def _ask(self, method: str, params: Mapping[str, Any], about: str = "") -> None:
        self._rpc.request(method, {"threadId": self.session, **params}, about)

    def _interrupt(self) -> None:
        if self._turn is not None:
            self._ask("turn/interrupt", {"turnId": self._turn.id})

    def _send_steers(self) -> None:
        if self._turn is None or self._is_stopping:
            return
        for prompt_id, parts in self._steers.items():
            if parts is not None:
                params = {"input": _input(parts), "clientUserMessageId": prompt_id}
                self._ask("turn/steer", {"expectedTurnId": self._turn.id, **params}, prompt_id)
                self._steers[prompt_id] = None

    def _reply(self, ask: str, answer: Answer) -> None:
        waiting = self._asks.pop(ask, None)
        if waiting is not None:
            self._rpc.answer(ask, answered(waiting.method, waiting.params, answer))

    # -- What it answers ---------------------------------------------------------------------------

    def _answer(self, answer: RpcAnswer) -> list[Event]:
        match answer.method:
            case "initialize":
                return self._initialized(answer)
            case "thread/read":
                return self._go_back(answer)
            case "thread/start" | "thread/resume" | "thread/fork":
                return self._begun(answer)
            case "skills/list" | "account/read" | "model/list":
                return self._known(answer)
            case "thread/settings/update":
                return self._set(answer)
            case "turn/start":
                return self._prompted(answer)
            case "turn/steer":
                denial = self._denials.pop(answer.about, None)
                if denial is not None:
                    self._reply(answer.about, denial)
                return []
            case "thread/backgroundTerminals/list" if answer.fault is None:
                return self._end_commands(answer)
            case "turn/interrupt" if self._turn is None:
                return []  # it has ended meanwhile
            case "turn/interrupt" if answer.fault is not None:
                self._is_stopping = False  # it goes on, and what it asks can be answered
        return [] if answer.fault is None else [Troubled(Trouble.OTHER, answer.fault.message)]

    def _initialized(self, answer: RpcAnswer) -> list[Event]:
        if answer.fault is not None:
            return [not_opened(answer.fault)]
        named = text(answer.fields.get("userAgent")).partition("/")[2]
        self._version = named.partition(" ")[0]
        self._rpc.notify("initialized")
        if self._start.before:
            read = {"threadId": self._start.session, "includeTurns": True}
            self._rpc.request("thread/read", read)
        elif self._start.session:
            self._go_on("thread/resume")
        else:
            self._rpc.request("thread/start", self._start.params)
        return []

    def _go_on(self, method: str, **fields: str) -> None:
        thread = {"threadId": self._start.session, "excludeTurns": True, **fields}
        self._rpc.request(method, {**self._start.params, **thread})

    def _go_back(self, answer: RpcAnswer) -> list[Event]:
        """Fork the thread behind the last turn that stays; begin a new one if there is none."""
        if answer.fault is not None:
            return [Troubled(Trouble.NOT_BACK, answer.fault.message)]
        turns = mappings(mapping(answer.fields.get("thread")).get("turns"))
        way = way_back(turns, self._start.before)
        if way.why_not:
            return [Troubled(Trouble.NOT_BACK, way.why_not)]
        if way.after:
            self._go_on("thread/fork", lastTurnId=way.after)
        else:
            self._rpc.request("thread/start", self._start.params)
        return []

    def _begun(self, answer: RpcAnswer) -> list[Event]:
        if answer.fault is not None:
            if answer.method == "thread/fork":
                return [Troubled(Trouble.NOT_BACK, answer.fault.message)]
            return [not_opened(answer.fault)]
        self.session = text(mapping(answer.fields.get("thread")).get("id"))
        self._hold({"effort": answer.fields.get("reasoningEffort"), **answer.fields})
        self._rpc.request("skills/list", {"cwds": [self._start.cwd]}, about="open")
        self._rpc.request("account/read", {}, about="open")
        self._rpc.request("model/list", {})
        self._opening = 2
        mode = self._start.mode if self._start.mode == PLAN else ""
        effort = self._start.effort if self._start.effort != self._applied.effort else ""
        if mode or effort:
            self._opening += 1
            self.set(mode=mode, effort=effort)
        return []

    def _known(self, answer: RpcAnswer) -> list[Event]:
        """Take what is asked once the thread is there; the last answer of all opens it."""
        if answer.method == "model/list":  # older ones do not know it
            return [*offered_in(answer.fields)] if answer.fault is None else []
        found: list[Event] = []
        if answer.method == "skills/list":
            self._commands = _commands(answer.fields)
            if answer.about != "open":
                return [CommandsChanged(self._commands)]
        elif answer.fields.get("requiresOpenaiAuth") and not answer.fields.get("account"):
            found = [Troubled(Trouble.LOGIN, "Codex is not logged in: run codex login")]
        return [*found, *self._opens()]

    def _opens(self) -> list[Event]:
        if not self._opening:
            return []
        self._opening -= 1
        if self._opening:
            return []
        opened = Opened(
            session=self.session,
            commands=self._commands,
            model=self._applied.model,
            mode=self._applied.mode,
            modes=MODES,
            version=self._version,
        )
        return [self._applied, opened]

    def _set(self, answer: RpcAnswer) -> list[Event]:
        """Settings that change are told of (`thread/settings/updated`)."""
        if answer.fault is not None:
            return [Troubled(Trouble.OTHER, answer.fault.message), *self._opens()]
        return self._opens() or ([self._applied] if answer.about else [])

    def _hold(self, settings: Mapping[str, Any]) -> None:
        self._applied = Applied(
            model=text(settings.get("model")),
            mode=mode_of(settings),
            effort=text(settings.get("effort")),
        )

    def _prompted(self, answer: RpcAnswer) -> list[Event]:
        if answer.fault is not None:
            self._prompt, self._is_stopping = "", False
            return [TurnEnded(How.FAILED, answer.fault.message)]
        turn = text(mapping(answer.fields.get("turn")).get("id"))
        if self._turn is not None and self._turn.id == turn:  # it has gone into this one
            self._turn = _Turn(turn, answer.about)
        else:
            self._prompts[turn] = answer.about
        return []

    def _end_commands(self, answer: RpcAnswer) -> list[Event]:
        for each in mappings(answer.fields.get("data")):
            if text(each.get("itemId")) in self._to_end:
                process = {"processId": each.get("processId")}
                self._ask("thread/backgroundTerminals/terminate", process)
        self._to_end.clear()
        return []

    # -- What it asks ------------------------------------------------------------------------------

    def _request(self, request: RpcRequest) -> list[Event]:
        item = self._thread.item(text(request.params.get("itemId")))
        found = asked(request.method, request.params, request.ask, item)
        if found is None:
            self._rpc.refuse(request.ask, NO_METHOD, f"{request.method} is not offered here")
            return [request.line.unread()]
        self._asks[request.ask] = _Open(request.method, request.params)
        return [found]

    def _withdrawn(self, params: Mapping[str, Any]) -> list[Event]:
        ask = self._rpc.withdrawn(params.get("requestId"))
        return [] if self._asks.pop(ask, None) is None else [AskGone(ask)]

    # -- What it tells -----------------------------------------------------------------------------

    def _notice(self, notice: RpcNotice) -> list[Event]:
        params = notice.params
        is_ours = params.get("threadId") in (None, self.session)
        match notice.method:
            case "turn/started" if is_ours:
                return self._started(text(mapping(params.get("turn")).get("id")))
            case "turn/completed":
                turn = mapping(params.get("turn"))
                ended = self._ends_with(turn)
                return [*ended, self._completed(turn)] if is_ours else ended
            case "item/started" if _client_id(params):
                return self._taken(_client_id(params))
            case "serverRequest/resolved":
                return self._withdrawn(params)
            case "thread/settings/updated" if is_ours:
                self._hold(mapping(params.get("threadSettings")))
                return [] if self._opening else [self._applied]
            case "skills/changed":
                self._rpc.request("skills/list", {"cwds": [self._start.cwd], "forceReload": True})
                return []
        trouble = self._troubles.read(notice)
        return self._thread.read(notice, is_ours=is_ours) if trouble is None else [trouble]

    def _started(self, turn: str) -> list[Event]:
        prompt = self._prompts.pop(turn, "")
        is_ours = bool(prompt) or self._is_compacting
        self._turn, self._is_compacting = _Turn(turn, prompt), False
        self._thread.begin()
        if self._is_stopping:
            self._interrupt()
        self._send_steers()
        return [TurnStarted(prompt, Origin.PROMPT if is_ours else Origin.ITSELF)]

    def _taken(self, prompt: str) -> list[Event]:
        if prompt not in self._untaken:
            return []
        self._untaken.discard(prompt)
        self._steers.pop(prompt, None)
        return [PromptTaken(prompt)]

    def _ends_with(self, turn: Mapping[str, Any]) -> list[Event]:
        """Return what ends with a turn, be it a helper's."""
        how, ended = _how(turn), text(turn.get("id"))
        if how is How.STOPPED:
            self._to_end.update(self._thread.commands_of(ended))
            if self._to_end:
                self._ask("thread/backgroundTerminals/list", {})
        found = self._thread.end(ended, is_done=how is How.DONE)
        for ask, waiting in tuple(self._asks.items()):
            if waiting.params.get("turnId") == ended:
                del self._asks[ask]
                found.append(AskGone(ask))
        return found

    def _completed(self, turn: Mapping[str, Any]) -> TurnEnded:
        left = tuple(self._steers)
        self._steers.clear()
        if self._turn is None or self._turn.prompt == self._prompt:
            self._prompt = ""
        self._turn, self._is_stopping = None, False
        return TurnEnded(_how(turn), reason_of(turn), left)


def _how(turn: Mapping[str, Any]) -> How:
    return _HOW.get(text(turn.get("status")), How.FAILED)


def _client_id(params: Mapping[str, Any]) -> str:
    item = mapping(params.get("item"))
    return text(item.get("clientId")) if item.get("type") == "userMessage" else ""


def _input(parts: Parts) -> list[Mapping[str, Any]]:
    return [_one(part) for part in parts]


def _one(part: Part) -> Mapping[str, Any]:
    if isinstance(part, Picture):
        data = base64.b64encode(part.data).decode()
        return {"type": "image", "url": f"data:{part.media_type};base64,{data}"}
    return {"type": "text", "text": part}


def _commands(listed: Mapping[str, Any]) -> tuple[OwnCommand, ...]:
    """Return the skills that can be named in a prompt."""
    return tuple(
        OwnCommand(
            name=f"${text(skill.get('name'))}",
            about=text(skill.get("shortDescription") or skill.get("description")),
        )
        for place in mappings(listed.get("data"))
        for skill in mappings(place.get("skills"))
        if skill.get("enabled") is not False
    )
