"""The lines of a story as the updates of a session, one after the other."""

import base64
import re
from collections.abc import Callable, Mapping
from typing import Any

from siding.chat.choosable import Choosable
from siding.chat.talk import Talk
from siding.faces.acp.blocks import media_type_of
from siding.faces.acp.diffs import Shown, shown_edits

Update = dict[str, Any]
Line = Mapping[str, Any]
# Returns a picture of a prompt by its name; None if it is not there any more.
PictureOf = Callable[[str], bytes | None]

_MOST_OUTPUT = 32 << 10  # characters of what a tool has printed that are shown: the newest
_FENCED = frozenset({"execute", "read", "search"})  # kinds of tools whose text is no Markdown
_KINDS = frozenset(
    ("read", "edit", "delete", "move", "search", "execute", "think", "fetch", "other")
)


class ClientCan:
    """What a client has said that it can, of what is of use here."""

    def __init__(self, capabilities: Line) -> None:
        of_session = capabilities.get("session")
        session = of_session if isinstance(of_session, Mapping) else {}
        self.notices = session.get("notices") is not None
        self.compactions = session.get("compaction") is not None
        forms = capabilities.get("elicitation")
        self.forms = isinstance(forms, Mapping) and forms.get("form") is not None


class _Call:
    """A call of a tool that has not ended."""

    def __init__(self, shown_id: str, kind: str, edits: Shown) -> None:
        self.id = shown_id
        self.kind = kind
        self.edits = edits
        self.printed = ""
        self.is_news = False  # something was printed that no update has


class Updates:
    """What a client is told of one session."""

    def __init__(self, workspace: str, can: ClientCan, picture: PictureOf) -> None:
        self._workspace, self._can, self._picture = workspace, can, picture
        self._calls: dict[str, _Call] = {}
        self._told: dict[str, int] = {}  # how often an id of a call was used: agents begin anew
        self._message = 0
        self._speaks = ""  # the kind of the message that goes on
        self._title = ""
        self.commands: list[dict[str, Any]] = []
        self.choosable = Choosable()

    def told(self, line: Line, before: Talk, *, echoes: bool) -> list[Update]:
        """Return the updates for a line. `echoes`: prompts are told as well."""
        event = str(line.get("event"))
        if event in ("text", "thought"):
            return self._said(event, line)
        if event == "sending":
            return self._prompt(line, before) if echoes else self._new_message([])
        self.choosable = self.choosable.after(line)
        teller = _TELLERS.get(event)
        if teller is None:
            return []
        found = teller(self, line)
        if event in ("tool-started", "turn-ended"):
            self._speaks = ""
        return found

    def flushed(self) -> list[Update]:
        """Return what running tools have printed since the last time."""
        news = [each for each in self._calls.values() if each.is_news]
        for each in news:
            each.is_news = False
        return [
            {
                "sessionUpdate": "tool_call_update",
                "toolCallId": each.id,
                "content": [*each.edits.content, _printed(each.printed, each.kind)],
            }
            for each in news
        ]

    def shown_id(self, call: str) -> str:
        """Return the id under which a client knows a call; the id as it is if it was not told."""
        found = self._calls.get(call)
        return found.id if found else call

    def remark(self, said: str, *, severity: str = "info") -> list[Update]:
        """Return something that Siding says, and not the agent."""
        if self._can.notices:
            first, _, rest = said.partition("\n")
            more = {"description": rest} if rest else {}
            return [{"sessionUpdate": "notice", "severity": severity, "title": first, **more}]
        return self._new_message([_chunk("agent_message_chunk", said, self._next_message())])

    # -- What an agent and a person say ------------------------------------------------------------

    def _said(self, event: str, line: Line) -> list[Update]:
        said = str(line.get("text", ""))
        inside = self._calls.get(str(line.get("inside", "")))
        if inside is not None:  # a helper's: it belongs to the call that began it
            return self._prints(inside, said)
        if self._speaks != event:
            self._speaks = event
            self._next_message()
        kind = "agent_message_chunk" if event == "text" else "agent_thought_chunk"
        return [_chunk(kind, said, str(self._message))]

    def _prompt(self, line: Line, before: Talk) -> list[Update]:
        waiting = before.waiting(str(line.get("prompt")))
        if waiting is None:
            return []
        message = self._next_message()
        found = [_chunk("user_message_chunk", waiting.text, message)] if waiting.text else []
        for name in waiting.files:
            data = self._picture(name)
            if data is not None:
                said = {"type": "image", "mimeType": media_type_of(name)}
                block = {**said, "data": base64.b64encode(data).decode()}
                found.append(
                    {
                        "sessionUpdate": "user_message_chunk",
                        "content": block,
                        "messageId": message,
                    }
                )
        return self._new_message(found)

    def _next_message(self) -> str:
        self._message += 1
        return str(self._message)

    def _new_message(self, found: list[Update]) -> list[Update]:
        self._speaks = ""
        return found

    # -- Tools -------------------------------------------------------------------------------------

    def _tool_started(self, line: Line) -> list[Update]:
        call = str(line.get("call"))
        self._told[call] = times = self._told.get(call, 0) + 1
        kind = str(line.get("kind", "other"))
        kind = kind if kind in _KINDS else "other"
        edits = shown_edits(line.get("edits", ()), self._workspace)
        one = self._calls[call] = _Call(call if times == 1 else f"{call}#{times}", kind, edits)
        return [
            {
                "sessionUpdate": "tool_call",
                "toolCallId": one.id,
                "title": str(line.get("title") or line.get("name") or kind),
                "kind": kind,
                "status": "in_progress",
                "rawInput": line.get("input", {}),
                **_if_any(content=edits.content, locations=edits.places),
            }
        ]

    def _tool_output(self, line: Line) -> list[Update]:
        call = self._calls.get(str(line.get("call")))
        return [] if call is None else self._prints(call, str(line.get("text", "")))

    def _prints(self, call: _Call, said: str) -> list[Update]:
        call.printed = (call.printed + said)[-_MOST_OUTPUT:]
        call.is_news = True
        return []

    def _tool_ended(self, line: Line) -> list[Update]:
        call = self._calls.pop(str(line.get("call")), None)
        if call is None:
            return []
        edits = call.edits
        if line.get("edits"):
            edits = shown_edits(line["edits"], self._workspace)
        said = str(line.get("text") or call.printed)
        printed = [_printed(said, call.kind)] if said.strip() else []
        return [
            {
                "sessionUpdate": "tool_call_update",
                "toolCallId": call.id,
                "status": "failed" if line.get("failed") else "completed",
                **_if_any(content=[*edits.content, *printed], locations=edits.places),
            }
        ]

    # -- What else there is ------------------------------------------------------------------------

    def _turn_ended(self, _line: Line) -> list[Update]:
        """Close the calls that nothing more is said of."""
        return [
            update
            for call in list(self._calls)
            for update in self._tool_ended({"call": call, "failed": True})
        ]

    def _planned(self, line: Line) -> list[Update]:
        known = ("pending", "in_progress", "completed")
        entries = [
            {
                "content": str(each.get("text", "")),
                "priority": "medium",
                "status": each["status"] if each.get("status") in known else "pending",
            }
            for each in line.get("steps", ())
        ]
        return [{"sessionUpdate": "plan", "entries": entries}]

    def _has_commands(self, line: Line) -> list[Update]:
        commands = [
            {
                "name": str(each.get("name", "")).removeprefix("/"),
                "description": str(each.get("about") or each.get("name", "")),
                "input": {"hint": "text"},
            }
            for each in line.get("commands", ())
        ]
        if commands == self.commands:
            return []
        self.commands = commands
        return [{"sessionUpdate": "available_commands_update", "availableCommands": commands}]

    def _applied(self, line: Line) -> list[Update]:
        mode = str(line.get("mode", ""))
        if mode not in self.choosable.modes:
            return []
        return [{"sessionUpdate": "current_mode_update", "currentModeId": mode}]

    def _used(self, line: Line) -> list[Update]:
        used, size = line.get("context", 0), line.get("window", 0)
        if not used or not size:
            return []
        cost = line.get("dollars")
        more = {} if cost is None else {"cost": {"amount": cost, "currency": "USD"}}
        return [{"sessionUpdate": "usage_update", "used": used, "size": size, **more}]

    def _compacted(self, line: Line) -> list[Update]:
        if self._can.compactions:
            done = {"compactionId": f"compaction-{line.get('seq')}", "status": "completed"}
            return [{"sessionUpdate": "compaction_update", **done}]
        return self.remark("The conversation was made shorter.")

    def _queued(self, line: Line) -> list[Update]:
        title = str(line.get("text", "")).strip().partition("\n")[0][:80]
        if self._title or not title:
            return []
        self._title = title
        return [
            {"sessionUpdate": "session_info_update", "title": title, "updatedAt": line.get("at")}
        ]

    def _earlier(self, line: Line) -> list[Update]:
        """Return what was said where no host held the agent. What tools printed is left out."""
        kind = {"person": "user_message_chunk", "agent": "agent_message_chunk"}
        found = kind.get(str(line.get("who")))
        said = str(line.get("text", ""))
        return [_chunk(found, said, self._next_message())] if found else []

    def _handed_over(self, _line: Line) -> list[Update]:
        return self.remark("The conversation is on the agent's own screen now.")

    def _handed_back(self, _line: Line) -> list[Update]:
        return self.remark("The agent's own screen is closed; the conversation is back.")

    def _switched(self, line: Line) -> list[Update]:
        said = [f"{line.get('agent')} goes on with the conversation.", *line.get("left", ())]
        return self.remark("\n".join(map(str, said)))

    def _troubled(self, line: Line) -> list[Update]:
        return self.remark(str(line.get("message", "")), severity="warning")

    def _held(self, line: Line) -> list[Update]:
        reason = str(line.get("reason", ""))
        return self.remark(f"What waits is held: {reason}. The next prompt goes on.")


def _chunk(kind: str, said: str, message: str) -> Update:
    return {
        "sessionUpdate": kind,
        "content": {"type": "text", "text": said},
        "messageId": message,
    }


def _printed(said: str, kind: str) -> dict[str, Any]:
    """Return what a tool printed as content, as it is and not as Markdown where it is none."""
    said = said[-_MOST_OUTPUT:]
    if kind in _FENCED:
        fence = "`" * max(3, max(map(len, re.findall("`+", said)), default=0) + 1)
        said = f"{fence}\n{said.rstrip()}\n{fence}"
    return {"type": "content", "content": {"type": "text", "text": said}}


def _if_any(**lists: list[dict[str, Any]]) -> dict[str, Any]:
    return {name: found for name, found in lists.items() if found}


_TELLERS: Mapping[str, Callable[[Updates, Line], list[Update]]] = {
    "tool-started": Updates._tool_started,
    "tool-output": Updates._tool_output,
    "tool-ended": Updates._tool_ended,
    "turn-ended": Updates._turn_ended,
    "planned": Updates._planned,
    "opened": Updates._has_commands,
    "commands-changed": Updates._has_commands,
    "applied": Updates._applied,
    "used": Updates._used,
    "compacted": Updates._compacted,
    "queued": Updates._queued,
    "troubled": Updates._troubled,
    "held": Updates._held,
    "told": Updates._earlier,
    "handed-over": Updates._handed_over,
    "handed-back": Updates._handed_back,
    "switched": Updates._switched,
}
