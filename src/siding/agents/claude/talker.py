"""The talker of Claude Code: stream-json on its standard input and output.

What the client is asked has an id, and its answer is waited for by that id; so nothing is asked
that a known version does not know (2.1.197 answers nothing any more after one malformed request).
Its own queue is not used: a steer is sent while a tool runs, and taken back when its turn ends
without it.
"""

import base64
import uuid
from collections.abc import Callable, Mapping
from typing import Any

from siding.agents.claude import tool_events
from siding.agents.claude.models import offered_in
from siding.agents.claude.spending import Spending
from siding.agents.claude.troubles import trouble_of_answer, trouble_of_limit, trouble_of_retry
from siding.agents.claude.turns import Turns
from siding.agents.talking.abilities import Abilities, Evidence
from siding.agents.talking.lines import JsonLine, LineCutter, in_line
from siding.agents.talking.port import (
    Answer,
    Applied,
    AskGone,
    Compacted,
    Event,
    How,
    InBackground,
    Meaning,
    Opened,
    OwnCommand,
    Part,
    Parts,
    Picture,
    Planned,
    SessionChanged,
    Text,
    Thought,
    ToolStarted,
    Trouble,
    Troubled,
    Unread,
)
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import mapping, mappings, strings, text, whole

ABILITIES = Abilities(
    evidence=Evidence.ID,
    steers=True,
    asks=True,
    gives_reason=True,
    always=True,
    questions=True,
    models=True,
    modes=True,
    efforts=True,
    effort_variable="CLAUDE_CODE_EFFORT_LEVEL",
    pictures=True,
    commands=True,
    compacts=True,
    goes_back=True,
    own_screen=True,
    servers=True,
    web_servers=True,
)
# Those that every version has.
MEANS = {"default": Meaning.ASK, "acceptEdits": Meaning.EDITS, "plan": Meaning.PLAN}
_MODES = tuple(MEANS)
# The others that newer versions have. 2.1.197 takes any word for a mode.
_ALL_MODES = frozenset({*_MODES, "manual", "auto", "dontAsk", "bypassPermissions"})
_NO_CONTENT = "(no content)"  # what 2.1.197 says to a command that says nothing
_DENIED = "The person has not allowed it."

Handler = Callable[[Mapping[str, Any], str], list[Event]]  # of an answer, and of its error


class Start(NamedTuple):
    """How the client was started."""

    session: str = ""
    cwd: str = ""
    mode: str = ""
    effort: str = ""
    goes_on: bool = False
    abilities: Abilities = ABILITIES  # of an agent that has this protocol and less of it


class ClaudeTalker:
    """One conversation."""

    def __init__(self, start: Start) -> None:
        self.abilities = start.abilities
        self.session = start.session
        self._start = start
        self._out: list[bytes] = []
        self._lines = LineCutter()
        self._turns = Turns()
        self._handlers: dict[str, Handler] = {}
        self._number = 0
        self._changes = 0  # that are not answered
        self._asks: dict[str, Mapping[str, Any]] = {}  # that are open, by their id
        self._calls: dict[str, ToolStarted] = {}  # that run
        self._tasks = tool_events.Tasks()
        self._spending = Spending(is_new=not start.goes_on)
        self._streamed: set[str] = set()  # ids of messages that came in pieces
        self._repeats = False  # it repeats what a compaction has kept
        self._background: dict[str, str] = {}
        self._says_background = False  # it says the whole list by itself
        self._is_new = False  # it says what it does with each prompt
        self._applied = Applied(mode=start.mode)
        self._late: list[Event] = []  # to be returned with the next ones
        self._ask_client("initialize", self._on_initialized, hooks=None)

    # -- What is sent ------------------------------------------------------------------------------

    def to_send(self) -> bytes:
        data = b"".join(self._out)
        self._out.clear()
        return data

    def prompt(self, prompt_id: str, parts: Parts) -> None:
        self._turns.prompted(prompt_id)
        self._say(prompt_id, parts)

    def steer(self, prompt_id: str, parts: Parts) -> None:
        """Send it if a tool runs or a question is open; else with the next tool of this turn."""
        self._turns.waiting[prompt_id] = parts
        if self._asks or self._runs_tool():
            self._send_steers()

    def stop(self) -> None:
        turns = self._turns
        withdrawn = [*turns.sent, *([] if turns.taken or not turns.prompt else [turns.prompt])]
        for each in withdrawn:
            self._withdraw(each)
        if turns.running or turns.prompt:
            self._ask_client("interrupt", _nothing)

    def answer(self, ask: str, answer: Answer) -> None:
        request = self._asks.pop(ask, None)
        if request is None:
            return
        response: dict[str, Any]
        if not answer.allows:
            response = {"behavior": "deny", "message": answer.reason or _DENIED}
        else:
            given = mapping(request.get("input"))
            if request.get("tool_name") == tool_events.QUESTION:
                given = tool_events.answers(given, answer.choices)
            response = {"behavior": "allow", "updatedInput": given}
            rules = tool_events.session_rules(request) if answer.always else None
            if rules is not None:
                response["updatedPermissions"] = [rules]
        self._respond(ask, {"subtype": "success", "response": response})

    def set(self, *, model: str = "", mode: str = "", effort: str = "") -> None:
        if model:
            self._change("set_model", model=model)
        if effort:
            self._change("apply_flag_settings", settings={"effortLevel": effort})
        if mode in _ALL_MODES:
            self._change("set_permission_mode", mode=mode)
        elif mode:
            message = f"{mode!r} is no mode of Claude Code: there are {', '.join(_MODES)}"
            self._late.append(Troubled(trouble=Trouble.OTHER, message=message))
        if not self._changes:
            self._ask_client("get_settings", self._on_settings)

    def compact(self) -> None:
        prompt = str(uuid.uuid4())
        self._turns.prompted(prompt, is_ours=True)
        self._say(prompt, ("/compact",))

    def _say(self, prompt: str, parts: Parts) -> None:
        content = [_block(part) for part in parts]
        message = {"role": "user", "content": content}
        beside = {"parent_tool_use_id": None, "session_id": ""}
        self._send({"type": "user", "uuid": prompt, "message": message, **beside})

    def _change(self, subtype: str, **fields: Any) -> None:
        """Change a setting. What holds is asked for when the last one is answered: the client does
        what it is asked side by side."""

        def changed(answer: Mapping[str, Any], error: str) -> list[Event]:
            self._changes -= 1
            if not error and subtype == "set_permission_mode":
                self._applied = self._applied._replace(mode=_mode(answer.get("mode")))
            if not self._changes:
                self._ask_client("get_settings", self._on_settings)
            return [Troubled(trouble=Trouble.OTHER, message=error)] if error else []

        self._changes += 1
        self._ask_client(subtype, changed, **fields)

    def _send_steers(self) -> None:
        for prompt, parts in [*self._turns.waiting.items()] if self.abilities.steers else ():
            self._turns.steered(prompt)
            self._say(prompt, parts)

    def _withdraw(self, prompt: str) -> None:
        def given_back(answer: Mapping[str, Any], _error: str) -> list[Event]:
            return self._turns.given_back(prompt, is_back=answer.get("cancelled") is True)

        self._ask_client("cancel_async_message", given_back, message_uuid=prompt)

    def _ask_client(self, subtype: str, handler: Handler, **fields: Any) -> None:
        self._number += 1
        request_id = f"siding-{self._number}"
        self._handlers[request_id] = handler
        request = {"subtype": subtype, **fields}
        self._send({"type": "control_request", "request_id": request_id, "request": request})

    def _respond(self, request_id: str, response: Mapping[str, Any]) -> None:
        self._send({"type": "control_response", "response": {**response, "request_id": request_id}})

    def _send(self, message: Mapping[str, Any]) -> None:
        self._out.append(in_line(message))

    # -- What is received --------------------------------------------------------------------------

    def receive(self, data: bytes) -> list[Event]:
        found = [*self._late]
        self._late.clear()
        for line in self._lines.take(data):
            found += [line] if isinstance(line, Unread) else self._on_line(line)
        return found

    def _on_line(self, line: JsonLine) -> list[Event]:
        said = line.said
        match said.get("type"):
            case "stream_event":
                return self._on_stream(said)
            case "assistant":
                return self._on_assistant(said)
            case "user":
                return self._on_user(said)
            case "system":
                return self._on_system(said, line)
            case "result":
                return self._on_result(said)
            case "command_lifecycle":
                return self._on_lifecycle(said)
            case "control_response":
                return self._on_response(mapping(said.get("response")))
            case "control_request":
                return self._on_request(said, line)
            case "control_cancel_request":
                return self._gone(text(said.get("request_id")))
            case "rate_limit_event":
                return [*trouble_of_limit(said)]
            case "conversation_reset" | "keep_alive" | "tool_progress":
                return []
        return [line.unread()]

    def _on_initialized(self, answer: Mapping[str, Any], error: str) -> list[Event]:
        if error:
            return [Troubled(trouble=Trouble.OTHER, message=error)]
        mode = _mode(answer.get("current_permission_mode")) or self._applied.mode
        self._applied = self._applied._replace(mode=mode)
        self.set(effort=self._start.effort)
        commands = tuple(
            OwnCommand(name=f"/{each['name']}", about=text(each.get("description")))
            for each in mappings(answer.get("commands"))
            if isinstance(each.get("name"), str)
        )
        opened = Opened(
            session=self.session,
            commands=commands,
            mode=self._applied.mode,
            modes=_MODES,
            version=text(answer.get("claude_code_version")),
        )
        return [*offered_in(answer), opened]

    def _on_settings(self, answer: Mapping[str, Any], _error: str) -> list[Event]:
        applied = mapping(answer.get("applied"))
        self._applied = self._applied._replace(
            model=text(applied.get("model")) or self._applied.model,
            effort=text(applied.get("effort")),
        )
        return [self._applied]

    def _on_response(self, response: Mapping[str, Any]) -> list[Event]:
        """An answer to a request of ours. (Our own answers come back as well.)"""
        handler = self._handlers.pop(text(response.get("request_id")), None)
        if handler is None:
            return []
        failed = response.get("subtype") != "success"
        error = (text(response.get("error")) or "it gives no reason") if failed else ""
        return handler(mapping(response.get("response")), error)

    def _on_request(self, said: Mapping[str, Any], line: JsonLine) -> list[Event]:
        request_id, request = text(said.get("request_id")), mapping(said.get("request"))
        if request.get("subtype") != "can_use_tool":
            self._respond(request_id, {"subtype": "error", "error": "Siding cannot do this."})
            return [line.unread()]
        self._asks[request_id] = request
        if self._turns.running:
            self._send_steers()
        return [tool_events.asked(request_id, request, self._start.cwd)]

    def _gone(self, ask: str) -> list[Event]:
        return [AskGone(ask=ask)] if self._asks.pop(ask, None) is not None else []

    def _on_lifecycle(self, said: Mapping[str, Any]) -> list[Event]:
        self._is_new = True
        if said.get("state") in ("started", "completed"):
            return self._turns.took(text(said.get("command_uuid")))
        return []

    # -- What it says and does ---------------------------------------------------------------------

    def _on_stream(self, said: Mapping[str, Any]) -> list[Event]:
        event, inside = mapping(said.get("event")), text(said.get("parent_tool_use_id"))
        match event.get("type"):
            case "message_start":
                message = mapping(event.get("message"))
                self._streamed.add(text(message.get("id")))
                self._repeats = False
                if not inside:
                    self._spending.asked(mapping(message.get("usage")))
            case "content_block_delta":
                delta = mapping(event.get("delta"))
                if delta.get("type") == "text_delta":
                    return [Text(text=text(delta.get("text")), inside=inside)]
                if delta.get("type") == "thinking_delta":
                    return [Thought(text=text(delta.get("thinking")), inside=inside)]
        return []

    def _on_assistant(self, said: Mapping[str, Any]) -> list[Event]:
        message, inside = mapping(said.get("message")), text(said.get("parent_tool_use_id"))
        blocks = mappings(message.get("content"))
        if said.get("error"):
            return [trouble_of_answer(said, blocks)]
        is_streamed = text(message.get("id")) in self._streamed
        if self._repeats and not is_streamed and not inside:
            return []
        found: list[Event] = []
        for block in blocks:
            match block.get("type"):
                case "text" if not is_streamed and block.get("text") != _NO_CONTENT:
                    found.append(Text(text=text(block.get("text")), inside=inside))
                case "thinking" if not is_streamed:
                    found.append(Thought(text=text(block.get("thinking")), inside=inside))
                case "tool_use":
                    found += self._tool_started(block, inside)
        return found

    def _tool_started(self, block: Mapping[str, Any], inside: str) -> list[Event]:
        call = tool_events.started(block, inside)
        self._calls[call.call] = call
        if not inside:
            self._send_steers()
        return [call]

    def _on_user(self, said: Mapping[str, Any]) -> list[Event]:
        if said.get("isReplay") is True:
            return self._turns.took(text(said.get("uuid")))
        blocks = mappings(mapping(said.get("message")).get("content"))
        results = [each for each in blocks if each.get("type") == "tool_result"]
        beside = mapping(said.get("tool_use_result")) if len(results) == 1 else {}
        found: list[Event] = []
        for block in results:
            ended = tool_events.ended(block, beside)
            call = self._calls.pop(ended.call, None)
            if call is None:
                continue  # a compaction repeats it
            found.append(ended)
            steps = None if ended.failed else self._tasks.told(call, beside)
            if steps is not None:
                found.append(Planned(steps=steps))
        return found

    def _on_system(self, said: Mapping[str, Any], line: JsonLine) -> list[Event]:
        match said.get("subtype"):
            case "init":
                return self._on_init(said)
            case "status":
                return self._on_status(said)
            case "compact_boundary":
                self._repeats = True
                about = mapping(said.get("compact_metadata"))
                before, after = whole(about.get("pre_tokens")), whole(about.get("post_tokens"))
                return [Compacted(before=before, after=after)]
            case "api_retry":
                return [trouble_of_retry(said)]
            case "background_tasks_changed":
                self._says_background = True
                tasks = mappings(said.get("tasks"))
                return [
                    InBackground(running=tuple(text(each.get("description")) for each in tasks))
                ]
            case "task_started" | "task_notification":
                return self._on_task(said)
            case "task_updated" | "task_progress" | "thinking_tokens" | "permission_denied":
                return []
        return [line.unread()]

    def _on_init(self, said: Mapping[str, Any]) -> list[Event]:
        """A turn begins. (It is said once more while it runs.)"""
        found: list[Event] = []
        session = text(said.get("session_id"))
        if session and session != self.session:
            found.append(SessionChanged(session=session))
            self.session = session
        prompts = said.get("user_message_uuids")
        is_new = "capabilities" in said or self._is_new
        named = strings(prompts) if is_new else None
        return [*found, *self._turns.begins(named), *self._on_status(said)]

    def _on_status(self, said: Mapping[str, Any]) -> list[Event]:
        mode = _mode(said.get("permissionMode"))
        if not mode or mode == self._applied.mode:
            return []
        self._applied = self._applied._replace(mode=mode)
        return [self._applied]

    def _on_task(self, said: Mapping[str, Any]) -> list[Event]:
        task = text(said.get("task_id"))
        if said.get("subtype") == "task_started":
            self._background[task] = text(said.get("description"))
        else:
            self._background.pop(task, None)
            self._turns.notified()
        if self._says_background:
            return []
        return [InBackground(running=tuple(self._background.values()))]

    def _on_result(self, said: Mapping[str, Any]) -> list[Event]:
        failed = said.get("is_error") is True
        reason = "; ".join(strings(said.get("errors"))) or text(said.get("result"))
        how = How.FAILED if failed else How.DONE
        if text(said.get("terminal_reason")).startswith("aborted"):
            how, reason = How.STOPPED, ""
        elif not failed:
            reason = ""
        kind = mapping(said.get("origin")).get("kind")
        found: list[Event] = [*self._spending.used(said)]
        found += [AskGone(ask=each) for each in self._asks]
        self._asks.clear()
        self._calls = {key: call for key, call in self._calls.items() if call.inside}
        self._streamed.clear()
        self._repeats = False
        by_itself = kind == "task-notification"
        ended = self._turns.ends(how, reason, by_itself=by_itself, is_sure=self._is_new)
        for each in self._turns.sent:
            self._withdraw(each)
        if failed and not ended and how is How.FAILED:
            found.append(trouble_of_answer(said, []))
        return [*found, *ended]

    def _runs_tool(self) -> bool:
        return any(not call.inside for call in self._calls.values())


def _block(part: Part) -> dict[str, Any]:
    if isinstance(part, Picture):
        data = base64.b64encode(part.data).decode()
        source = {"type": "base64", "media_type": part.media_type, "data": data}
        return {"type": "image", "source": source}
    return {"type": "text", "text": part}


def _mode(said: object) -> str:
    """Return a mode by the name that all versions take."""
    return "default" if said == "manual" else text(said)


def _nothing(_answer: Mapping[str, Any], _error: str) -> list[Event]:
    return []
