"""Hold an agent over the Agent Client Protocol (ACP), version 1: JSON-RPC over lines.

A turn is the time from a prompt to its answer. What comes outside of one is no event: it is the
story of a conversation that was loaded, which agents tell once more, or a word to no prompt.

What this side offers an agent is to ask: it has no files and no terminals for it. What asks for
them all the same is refused, and the agents that were tried then use their own.
"""

import base64
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath
from typing import Any

from siding import __version__
from siding.agents.acp.answers import Options, options_in, outcome
from siding.agents.acp.calls import Calls, planned_in
from siding.agents.acp.choices import Choices
from siding.agents.acp.faults import message_of, trouble_of
from siding.agents.acp.habits import Habits
from siding.agents.acp.used import Meter
from siding.agents.talking.port import (
    Answer,
    Asked,
    AskGone,
    Cause,
    CommandsChanged,
    Compacted,
    Event,
    Hold,
    How,
    Offered,
    Opened,
    Origin,
    OwnCommand,
    Parts,
    Picture,
    PromptTaken,
    Text,
    Thought,
    Trouble,
    Troubled,
    TurnEnded,
    TurnStarted,
)
from siding.agents.talking.rpc import NO_METHOD, Rpc, RpcAnswer, RpcNotice, RpcRequest
from siding.agents.talking.servers import as_acp
from siding.ground.storage.fields import mapping, mappings, text

VERSION = 1
_COMPACTION = "compaction"  # a turn that is no prompt of a person's
# How a turn ends, and why.
_ENDS = {
    "end_turn": TurnEnded(How.DONE),
    "cancelled": TurnEnded(How.STOPPED),
    "refusal": TurnEnded(How.FAILED, "the model refuses to go on", cause=Cause.REFUSAL),
    "max_tokens": TurnEnded(How.FAILED, "the model wrote as much as it may", cause=Cause.TOKENS),
    "max_turn_requests": TurnEnded(
        How.FAILED, "it made as many requests as it may in a turn", cause=Cause.REQUESTS
    ),
}
_STORY_S = 1.0
_NOT_OFFERED = ("fs/", "terminal/", "elicitation/")


class AcpTalker:
    """One conversation. It begins to speak as soon as it is made."""

    def __init__(self, hold: Hold, habits: Habits) -> None:
        self.abilities = habits.abilities
        self.session = hold.session
        self._spoken_of = hold.session  # the id in messages
        self._hold, self._habits = hold, habits
        self._rpc = Rpc()
        self._choices = Choices()
        self._offered = Offered()
        self._calls = Calls(habits)
        self._meter = Meter(habits.counts, is_new=not hold.session)
        self._commands: tuple[OwnCommand, ...] = ()
        self._version = ""
        self._later: list[Event] = []  # what is told with the next bytes, or with none
        self._asks: dict[str, Options] = {}
        self._settings = 0  # how many are not answered yet
        self._has_session = False  # the agent has said so
        self._is_open = False
        self._waits_for_story = bool(hold.session) and habits.is_story_late
        self._turn = ""  # our id of the prompt, or `_COMPACTION`
        self._has_begun = False
        self._is_stopping = False
        self._left: tuple[str, ...] = ()
        self._context = 0  # how full the window was as the turn began
        self._rpc.request(
            "initialize",
            {
                "protocolVersion": VERSION,
                "clientCapabilities": {
                    "fs": {"readTextFile": False, "writeTextFile": False},
                    "terminal": False,
                },
                "clientInfo": {"name": "siding", "title": "Siding", "version": __version__},
            },
        )

    # -- What is asked of it -----------------------------------------------------------------------

    def to_send(self) -> bytes:
        return self._rpc.to_send()

    def prompt(self, prompt_id: str, parts: Parts) -> None:
        said = [self._block(part) for part in parts]
        if self._hold.text and not self._hold.session:
            said.insert(0, {"type": "text", "text": self._hold.text})
            self._hold = self._hold._replace(text="")
        self._send(prompt_id, said)

    def steer(self, prompt_id: str, _parts: Parts, /) -> None:
        """Hand it back as the turn ends: a second prompt would end the turn of most agents."""
        self._left += (prompt_id,)

    def stop(self) -> None:
        if not self._turn:
            return
        self._is_stopping = True
        self._rpc.notify("session/cancel", {"sessionId": self._spoken_of})
        self._later += self._withdrawn()

    def answer(self, ask: str, answer: Answer) -> None:
        options = self._asks.pop(ask, None)
        if options is None:
            return
        chosen = options.once if answer.allows else options.no
        if answer.allows and answer.always and options.always:
            chosen = options.always
        if answer.allows and not chosen:
            message = "it offers no way to allow this once, so it was refused"
            self._later.append(Troubled(Trouble.OTHER, message))
        self._rpc.answer(ask, {"outcome": outcome(chosen)})

    def set(self, *, model: str = "", mode: str = "", effort: str = "") -> None:
        wanted = {"model": model, "mode": mode, "effort": effort}
        for kind, word in wanted.items():
            if word:
                self._later += self._choose(kind, word)

    def compact(self) -> None:
        if self._habits.compacts:
            self._send(_COMPACTION, [{"type": "text", "text": self._habits.compacts}])

    def _send(self, turn: str, said: list[dict[str, Any]]) -> None:
        assert self._is_open, "it is not open yet"
        assert not self._turn, "a turn runs: one prompt is in flight"
        self._turn, self._has_begun, self._is_stopping = turn, False, False
        self._context = self._meter.context
        self._calls.begin()
        self._meter.begin()
        self._rpc.request("session/prompt", {"sessionId": self._spoken_of, "prompt": said})

    def _block(self, part: str | Picture) -> dict[str, Any]:
        if isinstance(part, str):
            return {"type": "text", "text": part}
        if self.abilities.pictures or not part.path:
            data = base64.b64encode(part.data).decode()
            return {"type": "image", "mimeType": part.media_type, "data": data}
        path = PurePosixPath(part.path)
        link = {"type": "resource_link", "uri": path.as_uri(), "name": path.name}
        return {**link, "mimeType": part.media_type}

    @property
    def quiet_s(self) -> float | None:
        """While a story is told that nothing ends, how long nothing has come when it is over."""
        return _STORY_S if self._waits_for_story and self._has_session else None

    def quiet(self) -> list[Event]:
        self._waits_for_story = False
        return self._opens()

    # -- What it says ------------------------------------------------------------------------------

    def receive(self, data: bytes) -> list[Event]:
        events, self._later = self._later, []
        for message in self._rpc.receive(data):
            if isinstance(message, RpcAnswer):
                events += self._answered(message)
            elif isinstance(message, RpcRequest):
                events += self._requested(message)
            elif isinstance(message, RpcNotice):
                events += self._noticed(message)
            else:
                events.append(message)
            events += self._later
            self._later = []
        return events

    def _answered(self, message: RpcAnswer) -> list[Event]:
        handlers: Mapping[str, Callable[[RpcAnswer], list[Event]]] = {
            "initialize": self._initialized,
            "session/new": self._begun,
            "session/load": self._begun,
            "session/resume": self._begun,
            "session/prompt": self._ended,
        }
        return handlers.get(message.method, self._was_set)(message)

    def _noticed(self, notice: RpcNotice) -> list[Event]:
        if notice.method != "session/update":
            return [notice.line.unread()]
        update = mapping(notice.params.get("update"))
        session = text(notice.params.get("sessionId"))
        # An update may come before the answer that has the id of a new conversation.
        if self._spoken_of and session != self._spoken_of:
            return [notice.line.unread()]
        kind = text(update.get("sessionUpdate"))
        anytime: Mapping[str, Callable[[Mapping[str, Any]], list[Event]]] = {
            "available_commands_update": self._has_commands,
            "config_option_update": self._has_options,
            "current_mode_update": self._has_mode,
            "usage_update": self._has_used,
            "session_info_update": lambda _update: [],
        }
        if kind in anytime:
            return anytime[kind](update)
        if not self._is_open:  # the story
            return []
        in_turn: Mapping[str, Callable[[Mapping[str, Any]], list[Event]]] = {
            "agent_message_chunk": self._says,
            "agent_thought_chunk": self._thinks,
            "user_message_chunk": lambda _update: [],
            "tool_call": self._calls.said,
            "tool_call_update": self._calls.said,
            "plan": lambda update: [planned_in(update.get("entries"))],
        }
        if not self._turn or kind not in in_turn:
            return [notice.line.unread()]
        if self._turn == _COMPACTION and kind == "agent_message_chunk":
            return [*self._begins(), notice.line.unread()]  # the summary, which is for the model
        return [*self._begins(), *in_turn[kind](update)]

    def _requested(self, request: RpcRequest) -> list[Event]:
        if request.method != "session/request_permission":
            self._rpc.refuse(request.ask, NO_METHOD, f"Method not found: {request.method}")
            is_known = request.method.startswith(_NOT_OFFERED)
            return [] if is_known else [request.line.unread()]
        if not self._is_open or self._is_stopping:
            self._rpc.answer(request.ask, {"outcome": outcome("")})
            return []
        begins = self._begins() if self._turn else []
        return [*begins, *self._asks_for(request)]

    # -- Its beginning -----------------------------------------------------------------------------

    def _initialized(self, message: RpcAnswer) -> list[Event]:
        if message.fault is not None:
            return [Troubled(trouble_of(message.fault), message_of(message.fault))]
        said = message.fields
        if said.get("protocolVersion") != VERSION:
            found = said.get("protocolVersion")
            return [Troubled(Trouble.OTHER, f"it speaks ACP {found!r}; Siding speaks {VERSION}")]
        can = mapping(said.get("agentCapabilities"))
        self._version = text(mapping(said.get("agentInfo")).get("version"))
        takes = mapping(can.get("promptCapabilities")).get("image") is True
        if not takes:
            self.abilities = self.abilities._replace(pictures=False)
        servers = self._servers(mapping(can.get("mcpCapabilities")))
        place = {"cwd": str(self._hold.cwd), "mcpServers": servers}
        if not self._hold.session:
            self._rpc.request("session/new", place)
            return []
        resumes = mapping(can.get("sessionCapabilities")).get("resume") is not None
        if not resumes and can.get("loadSession") is not True:
            return [Troubled(Trouble.NO_SESSION, "it cannot go on with a conversation")]
        method = "session/resume" if resumes else "session/load"
        if resumes:
            self._waits_for_story = False
        else:
            self._spoken_of = self._habits.loads_as(self.session)
        self._rpc.request(method, {"sessionId": self._spoken_of, **place})
        return []

    def _servers(self, can: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the servers of tools that it can be given; say which it cannot."""
        given = [each for each in self._hold.servers if not each.kind or can.get(each.kind) is True]
        left = ", ".join(each.name for each in self._hold.servers if each not in given)
        if left:
            message = f"it is not given these MCP servers, which it cannot reach so: {left}"
            self._later.append(Troubled(Trouble.OTHER, message))
        return [as_acp(each) for each in given]

    def _begun(self, message: RpcAnswer) -> list[Event]:
        if message.fault is not None:
            trouble = trouble_of(message.fault)
            if self._hold.session and trouble is Trouble.OTHER:
                trouble = Trouble.NO_SESSION
            return [Troubled(trouble, message_of(message.fault))]
        self._has_session = True
        if not self._hold.session:
            self.session = self._spoken_of = text(message.fields.get("sessionId"))
        self._choices.take(message.fields)
        has = {kind: self._choices.of(kind) is not None for kind in ("model", "mode", "effort")}
        can = self.abilities
        self.abilities = can._replace(
            models=can.models and has["model"],
            modes=can.modes and has["mode"],
            efforts=can.efforts and has["effort"],
        )
        hold = self._hold
        events: list[Event] = []
        for kind, word in (
            ("mode", hold.mode or self._habits.mode),
            ("model", "" if self._habits.model_word else hold.model),
            ("effort", hold.effort),
        ):
            if word:
                events += self._choose(kind, word)
        if self._habits.model_word and hold.model:
            events += self._not_listed("model", hold.model)
        return [*events, *self._opens()]

    def _opens(self) -> list[Event]:
        """Return that it is open, once nothing more has to be waited for."""
        waits = not self._has_session or self._settings or self._waits_for_story
        if self._is_open or waits:
            return []
        self._is_open = True
        modes = self._choices.of("mode")
        return [
            *self._offers(),
            Opened(
                session=self.session,
                commands=self._commands,
                model=self._choices.applied.model,
                mode=self._choices.applied.mode,
                modes=tuple(each.word for each in modes.values) if modes else (),
                version=self._version,
            ),
        ]

    def _offers(self) -> list[Event]:
        """Return what can be chosen, if that is news."""
        before, self._offered = self._offered, self._choices.offered
        return [self._offered] if self._offered != before else []

    # -- Settings ----------------------------------------------------------------------------------

    def _choose(self, kind: str, word: str) -> list[Event]:
        """Ask it to change a setting; return why not, if it has no such value."""
        problem = self._not_listed(kind, word)
        chooser = self._choices.of(kind)
        value = chooser.find(word) if chooser is not None else None
        if chooser is None or value is None:
            return problem
        self._settings += 1
        fields: dict[str, Any] = {"sessionId": self._spoken_of}
        about = f"{kind} {value.id}"
        if chooser.option:
            fields |= {"configId": chooser.option, "value": value.id}
            self._rpc.request("session/set_config_option", fields, about)
        else:
            fields["modelId" if kind == "model" else "modeId"] = value.id
            self._rpc.request(f"session/set_{kind}", fields, about)
        return []

    def _not_listed(self, kind: str, word: str) -> list[Event]:
        chooser = self._choices.of(kind)
        if chooser is None:
            message = f"it lets nobody choose its {kind}: {word!r} was not set"
        elif chooser.find(word) is None:
            known = ", ".join(each.word for each in chooser.values)
            message = f"it has no {kind} {word!r}; it has: {known}"
        else:
            return []
        return [Troubled(Trouble.OTHER, message)]

    def _was_set(self, message: RpcAnswer) -> list[Event]:
        self._settings -= 1
        kind, _, value = message.about.partition(" ")
        events: list[Event] = []
        if message.fault is not None:
            why = message_of(message.fault)
            events.append(Troubled(Trouble.OTHER, f"it did not set the {kind} {value!r}: {why}"))
            if kind == "mode" and value == self._habits.mode and not self._is_open:
                self.abilities = self.abilities._replace(asks=False)
        elif "configOptions" in message.fields:
            self._choices.take(message.fields)
        else:
            self._choices.holds(kind, value)
        if self._is_open:
            return [*events, *([] if events else [self._choices.applied])]
        return [*events, *self._opens()]

    def _has_options(self, update: Mapping[str, Any]) -> list[Event]:
        before = self._choices.applied
        self._choices.take(update)
        return [*(self._offers() if self._is_open else []), *self._if_changed(before)]

    def _has_mode(self, update: Mapping[str, Any]) -> list[Event]:
        before = self._choices.applied
        self._choices.holds("mode", text(update.get("currentModeId")))
        return self._if_changed(before)

    def _if_changed(self, before: Any) -> list[Event]:
        # What is set by us is told with its answer.
        is_news = self._is_open and not self._settings and self._choices.applied != before
        return [self._choices.applied] if is_news else []

    def _has_commands(self, update: Mapping[str, Any]) -> list[Event]:
        before = self._commands
        self._commands = tuple(
            OwnCommand(name=f"/{text(each.get('name'))}", about=text(each.get("description")))
            for each in mappings(update.get("availableCommands"))
        )
        if not self._is_open:
            return []
        return [CommandsChanged(self._commands)] if self._commands != before else []

    # -- A turn ------------------------------------------------------------------------------------

    def _begins(self) -> list[Event]:
        """Return that the turn has begun, with the first word to it."""
        if self._has_begun:
            return []
        self._has_begun = True
        if self._turn == _COMPACTION:
            return [TurnStarted(origin=Origin.ITSELF)]
        return [PromptTaken(prompt=self._turn), TurnStarted(prompt=self._turn)]

    def _says(self, update: Mapping[str, Any]) -> list[Event]:
        used = self._meter.piece(update)
        said = text(mapping(update.get("content")).get("text"))
        events: list[Event] = [used] if used is not None else []
        return [*events, Text(said)] if said and not self._habits.is_noise(said) else events

    def _thinks(self, update: Mapping[str, Any]) -> list[Event]:
        said = self._habits.thought(text(mapping(update.get("content")).get("text")))
        return [Thought(said)] if said else []

    def _has_used(self, update: Mapping[str, Any]) -> list[Event]:
        used = self._meter.window(update)
        return [used] if used is not None and self._turn and self._has_begun else []

    def _asks_for(self, request: RpcRequest) -> list[Event]:
        call, events = self._calls.asked(mapping(request.params.get("toolCall")))
        options = options_in(request.params.get("options"), self._habits.always)
        self._asks[request.ask] = options
        asked = Asked(
            ask=request.ask,
            title=call.title or call.name,
            tool=call.name,
            call=call.id,
            kind=call.kind,
            command=call.command,
            cwd=call.cwd,
            reason=call.reason,
            input=call.input,
            edits=call.edits,
            can_always=bool(options.always),
        )
        return [*events, asked]

    def _withdrawn(self) -> list[Event]:
        """Withdraw all that it asks; return that."""
        gone = list(self._asks)
        self._asks.clear()
        for ask in gone:
            self._rpc.answer(ask, {"outcome": outcome("")})
        return [AskGone(ask) for ask in gone]

    def _ended(self, message: RpcAnswer) -> list[Event]:
        events: list[Event] = []
        fault = message.fault
        if fault is None:
            used = self._meter.end(message.fields)
            said = text(message.fields.get("stopReason"))
            unknown = TurnEnded(How.FAILED, f"it ended for a reason that is not known: {said!r}")
            end = _ENDS.get(said, unknown)
            events += self._begins()
            events += [used] if used is not None else []
        elif self._is_stopping:  # some say so of a turn that was stopped
            end = _ENDS["cancelled"]
        else:
            why = message_of(fault)
            end = TurnEnded(How.FAILED, why)
            trouble = trouble_of(fault)
            events += [Troubled(trouble, why)] if trouble is not Trouble.OTHER else []
        if not self._has_begun:
            self._has_begun = True
            events.append(TurnStarted(prompt="" if self._turn == _COMPACTION else self._turn))
        events += [*self._calls.ended(), *self._withdrawn()]
        if self._turn == _COMPACTION and end.how is How.DONE:
            events.append(Compacted(before=self._context, after=self._meter.context))
        self._turn, left, self._left = "", self._left, ()
        return [*events, end._replace(left=left)]
