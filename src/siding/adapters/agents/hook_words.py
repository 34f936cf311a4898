"""The words of hooks that Claude Code began and Codex has taken over, read and answered."""

import json
from collections.abc import Mapping
from typing import Any

from siding.adapters.agents.port import Answer, Moment, Report
from siding.storage.fields import mapping, text

JUDGED, CALLED = "PreToolUse", "PostToolUse"
_SHELL = "Bash"  # the name of the shell's tool, in both
_NOT_TYPED = "<task-notification>"  # a shell in the background has ended


def read_hook(payload: Mapping[str, Any], moments: Mapping[str, Moment]) -> Report | None:
    """Return what the payload of a hook says; None if it is not one of `moments`, nor a command."""
    name = text(payload.get("hook_event_name"))
    session, transcript = text(payload.get("session_id")), text(payload.get("transcript_path"))
    turn = text(payload.get("prompt_id")) or text(payload.get("turn_id"))
    if name == JUDGED:
        if payload.get("tool_name") != _SHELL:
            return None
        return Report(
            Moment.TOOL,
            session,
            turn,
            transcript,
            command=text(mapping(payload.get("tool_input")).get("command")),
            cwd=text(payload.get("cwd")),
            call=text(payload.get("tool_use_id")),
        )
    if name == CALLED:
        call = text(payload.get("tool_use_id"))
        return Report(Moment.CALLED, session, turn, transcript, text=_done(payload), call=call)
    if name not in moments:
        return None
    said = text(payload.get("prompt")) or text(payload.get("message"))
    typed = not said.lstrip().startswith(_NOT_TYPED)
    is_new = payload.get("source") == "startup"
    return Report(
        moments[name], session, turn, transcript, text=said, by_person=typed, is_new=is_new
    )


def _done(payload: Mapping[str, Any]) -> str:
    """Return what a tool has done, in a few words: the command, or the tool and its file."""
    tool, given = text(payload.get("tool_name")), mapping(payload.get("tool_input"))
    if tool == _SHELL:
        return text(given.get("command"))
    file, where = text(given.get("file_path")), text(payload.get("cwd"))
    return f"{tool} {file.removeprefix(where + '/') if where else file}".rstrip()


def greeted(said: str) -> Answer:
    """Return the answer that tells the model something as a session begins."""
    return Answer(_specific("SessionStart", additionalContext=said))


def informed(said: str) -> Answer:
    """Return the answer that tells the model something beside a prompt."""
    return Answer(_specific("UserPromptSubmit", additionalContext=said))


def denied(reason: str) -> Answer:
    """Return the answer that keeps a command from running."""
    return Answer(_specific(JUDGED, permissionDecision="deny", permissionDecisionReason=reason))


def _specific(event: str, **fields: str) -> str:
    return json.dumps({"hookSpecificOutput": {"hookEventName": event, **fields}})
