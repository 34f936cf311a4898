"""The words of hooks that Claude Code began and others have taken over, read and answered."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from siding.agents.hooks import Answer, Moment, Past, Report, Shortened, Takes, TypedMeanwhile
from siding.agents.tool_words import NotUnderstood, ToolTable, command_of, unknown_tool
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import mapping, mappings, text

JUDGED, CALLED = "PreToolUse", "PostToolUse"
_NOT_TYPED = "<task-notification>"  # a shell in the background has ended
_SUMMARY = re.compile(r"<summary>(.*?)</summary>", re.DOTALL)


class Words(NamedTuple):
    """What one agent calls the moments at which it starts a hook, and its tools."""

    moments: Mapping[str, Moment]  # but those of tools
    tools: ToolTable
    session: str = "SessionStart"
    prompt: str = "UserPromptSubmit"
    judged: str = JUDGED
    called: str = CALLED


def _never(_argv: tuple[str, ...]) -> None:
    return None


def _whole(_argv: tuple[str, ...], _past: Past) -> None:
    return None


class Hooked:
    """The part of an adapter that is the same for all agents with such hooks.

    An agent of which no more is said goes on with the whole of a conversation.
    """

    greets = Moment.SESSION
    takes = Takes.WITH_PROMPT

    def __init__(
        self,
        words: Words,
        continues: Callable[[tuple[str, ...]], str | None] = _never,
        without: Callable[[tuple[str, ...], Past], Shortened | None] = _whole,
    ) -> None:
        self._words = words
        self._continues = continues
        self._without = without

    def read(self, payload: Mapping[str, Any]) -> Report | None:
        return read_hook(payload, self._words)

    def greeted(self, text: str) -> Answer:
        return Answer(_specific(self._words.session, additionalContext=text))

    def informed(self, text: str) -> Answer:
        return Answer(_specific(self._words.prompt, additionalContext=text))

    def goes_on_with(self, text: str) -> Answer:
        return Answer(json.dumps({"decision": "block", "reason": text}))

    def denied(self, reason: str) -> Answer:
        denied = {"permissionDecision": "deny", "permissionDecisionReason": reason}
        return Answer(_specific(self._words.judged, **denied))

    def typed_in(self, _lines: Iterable[bytes], /) -> TypedMeanwhile | None:
        return None

    def continues(self, argv: tuple[str, ...]) -> str | None:
        return self._continues(argv)

    def without(self, argv: tuple[str, ...], past: Past) -> Shortened | None:
        return self._without(argv, past)


def read_hook(payload: Mapping[str, Any], words: Words) -> Report | None:
    """Return what the payload of a hook says; None if it is of no interest."""
    name = text(payload.get("hook_event_name"))
    session, transcript = text(payload.get("session_id")), text(payload.get("transcript_path"))
    turn = text(payload.get("prompt_id")) or text(payload.get("turn_id"))
    own = "" if payload.get("agent_id") else turn  # a helper's call may name a prompt of its own
    if name == words.judged or _is_renamed(payload, name, words):
        return _about_to_run(payload, own, words.tools)
    if name == words.called:
        call, done = text(payload.get("tool_use_id")), _done(payload, words.tools.shell)
        return Report(Moment.CALLED, session, own, transcript, text=done, call=call)
    if name not in words.moments or _has_helpers(payload):
        return None
    said = text(payload.get("prompt")) or text(payload.get("message"))
    typed = not said.lstrip().startswith(_NOT_TYPED)
    if not typed:
        summary = _SUMMARY.search(said)
        said = summary[1].strip() if summary else "work in the background has ended"
    is_new = payload.get("source") == "startup"
    return Report(
        words.moments[name],
        session,
        turn,
        transcript,
        text=said,
        by_person=typed,
        is_new=is_new,
        last_words=text(payload.get("last_assistant_message")),
    )


def _is_renamed(payload: Mapping[str, Any], name: str, words: Words) -> bool:
    """Tell whether a call of a tool is reported under a name of the moment that is not known.

    Siding's hook is started at moments that it knows: one of them was renamed.
    """
    return "tool_name" in payload and name not in (*words.moments, words.called)


def _about_to_run(payload: Mapping[str, Any], turn: str, tools: ToolTable) -> Report | None:
    """Return what a tool is about to do; None if there is nothing to judge in it."""
    tool, given = text(payload.get("tool_name")), payload.get("tool_input")
    if tools.does_nothing(tool):
        return None
    said = Report(
        Moment.TOOL,
        text(payload.get("session_id")),
        turn,
        text(payload.get("transcript_path")),
        cwd=text(payload.get("cwd")),
        call=text(payload.get("tool_use_id")),
    )
    if not tool:
        return said._replace(unread="a call that names no tool")
    if not tools.knows(tool):
        return said._replace(unknown=unknown_tool(tool, given))
    try:
        if tool == tools.shell:
            return said._replace(command=command_of(given))
        uses = tools.use(tool, given)
        return None if uses is None else said._replace(uses=uses, edits=tools.edits(tool, given))
    except NotUnderstood as why:
        return said._replace(unread=f"{tool}: {why}")


def _has_helpers(payload: Mapping[str, Any]) -> bool:
    """Tell whether helpers still work as the agent stops: then the turn is not over.

    The agent hears of their end as of a prompt, and stops again. Shells in the background are not
    waited for: a server may run all day.
    """
    tasks = mappings(payload.get("background_tasks"))
    return any((it.get("type"), it.get("status")) == ("subagent", "running") for it in tasks)


def _done(payload: Mapping[str, Any], shell: str) -> str:
    """Return what a tool has done, in a few words: the command, or the tool and its file."""
    tool, given = text(payload.get("tool_name")), mapping(payload.get("tool_input"))
    if tool == shell:
        return text(given.get("command"))
    file, where = text(given.get("file_path")), text(payload.get("cwd"))
    return f"{tool} {file.removeprefix(where + '/') if where else file}".rstrip()


def _specific(event: str, **fields: str) -> str:
    return json.dumps({"hookSpecificOutput": {"hookEventName": event, **fields}})


def merged(theirs: Mapping[str, Any], hooks: Mapping[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """Return settings with the hooks of both."""
    known = dict(mapping(theirs.get("hooks")))
    for name, ours in hooks.items():
        there = known.get(name)
        known[name] = [*(there if isinstance(there, list) else []), *ours]
    return {**theirs, "hooks": known}
