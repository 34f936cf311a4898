"""Plain words for what an agent reports, and for how it is answered.

They are Siding's own, for agents whose hooks are written for it: a plugin, or a few lines in
somebody's settings. docs/reference/agents.md describes them. A payload:

    {"moment": "prompt", "session": "s1", "text": "Add a flag", "turn": "p1"}

The answer is nothing, or an object: `tell` is for the model, `deny` keeps a command from running.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from siding.agents.edits import patches
from siding.agents.hooks import (
    Adapter,
    Answer,
    Injection,
    Moment,
    Past,
    Reach,
    Report,
    Shortened,
    Takes,
    TypedMeanwhile,
)
from siding.agents.tool_words import (
    Field,
    NotUnderstood,
    deleted,
    fetched,
    patched,
    ran,
    read,
    typed,
    unknown_tool,
    written,
)
from siding.ground.storage.fields import text
from siding.shellguard.face import ToolUse

_MOMENTS = {moment.value: moment for moment in Moment}


_FIELDS: Mapping[str, Field] = {
    "reads": read,
    "writes": written,
    "deletes": deleted,
    "fetches": fetched,
    "patch": lambda value: patched(value) if value else iter(()),
    "runs": ran,
    "types": typed,
}


_PATCHES = patches("patch")


def _use(payload: Mapping[str, Any]) -> ToolUse | None:
    """Return what a tool is about to do; None if nothing is said of it. Raises NotUnderstood."""
    touches = tuple(each for field, says in _FIELDS.items() for each in says(payload.get(field)))
    name, into = text(payload.get("tool")) or "a tool", text(payload.get("into"))
    return ToolUse(name, touches, into) if touches else None


def _with_tool(said: Report, payload: Mapping[str, Any]) -> Report:
    """Return the report of a tool with what it is about to do. Of one that is only named nobody
    has said what it does; `given`, its input, is for people to read."""
    name = text(payload.get("tool"))
    try:
        use = _use(payload)
    except NotUnderstood as why:
        return said._replace(unread=f"{name or 'a tool'}: {why}")
    if use is not None or said.command:
        return said._replace(uses=use, edits=_PATCHES(payload))
    if not name:
        return said._replace(unread="a call that names no tool")
    return said._replace(unknown=unknown_tool(name, payload.get("given")))


class Plain:
    """The part of an adapter that is the same for all agents with plain words."""

    greets = Moment.SESSION
    takes = Takes.NEVER

    def read(self, payload: Mapping[str, Any]) -> Report | None:
        moment = _MOMENTS.get(text(payload.get("moment")))
        if moment is None:
            return None
        said = Report(
            moment,
            session=text(payload.get("session")),
            turn=text(payload.get("turn")),
            transcript=text(payload.get("transcript")),
            text=text(payload.get("text")),
            is_new=payload.get("new") is True,
            followed=payload.get("followed") is True,
            command=text(payload.get("command")),
            cwd=text(payload.get("cwd")),
            call=text(payload.get("call")),
        )
        return _with_tool(said, payload) if moment is Moment.TOOL else said

    def greeted(self, text: str) -> Answer:
        return Answer(json.dumps({"tell": text}))

    def informed(self, text: str) -> Answer:
        return Answer(json.dumps({"tell": text}))

    def goes_on_with(self, _text: str, /) -> Answer:
        return Answer()  # it takes none

    def denied(self, reason: str) -> Answer:
        return Answer(json.dumps({"deny": reason}))

    def typed_in(self, _lines: Iterable[bytes], /) -> TypedMeanwhile | None:
        return None

    def continues(self, _argv: tuple[str, ...], /) -> str | None:
        return None  # nobody has said how its conversations are shortened

    def without(self, _argv: tuple[str, ...], _past: Past, /) -> Shortened | None:
        return None


class Unlisted(Plain):
    """The adapter of an agent that is not in the list: what it is told is in its own settings."""

    def injected(self, argv: tuple[str, ...], _reach: Reach, /) -> Injection:
        return Injection(argv, why_not="nobody has said how it is told to report")


ADAPTER: Adapter = Unlisted()
