"""Hooks that a client of the stream has registered: it is called back when something happens.

Which there are stands in its request `initialize`; an answer may refuse, change or allow a call.
Callbacks of other moments than these are not made.
"""

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from siding.assistant.front_end import Call, Result
from siding.assistant.hooks import HookRuling
from siding.faces.cli.assistant.client import Client, Unanswered
from siding.ground.errors import UsageError
from siding.ground.namedtuples import NamedTuple

MOMENTS = ("PreToolUse", "PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "Stop")
_PATIENCE_S = 60.0  # as Claude Code waits, where the client does not say
_ALL = ("", "*")
_NO_RULING = HookRuling()


class Callback(NamedTuple):
    """One registered callback. With `blocks`, one that fails is an objection."""

    id: str
    matcher: str  # a regular expression of whole names of tools; "" for all
    patience_s: float
    blocks: bool

    def fits(self, tool: str) -> bool:
        """Tell whether it is about a tool."""
        return self.matcher in _ALL or re.fullmatch(self.matcher, tool) is not None


def registered(fields: Mapping[str, Any]) -> dict[str, list[Callback]]:
    """Return the callbacks of a request `initialize`, by moment. Raises UsageError."""
    hooks = fields.get("hooks")
    if not isinstance(hooks, dict):
        return {}
    return {
        str(moment): [each for entry in _list(entries) for each in _callbacks(entry)]
        for moment, entries in hooks.items()
    }


def _callbacks(entry: Any) -> Iterator[Callback]:
    if not isinstance(entry, dict):
        raise UsageError("a hook is an object with hookCallbackIds")
    matcher, timeout = entry.get("matcher") or "", entry.get("timeout")
    try:
        re.compile(matcher)
    except (re.error, TypeError):
        raise UsageError(f"the matcher of a hook is no regular expression: {matcher!r}") from None
    patience = float(timeout) if isinstance(timeout, int | float) and timeout > 0 else _PATIENCE_S
    blocks = entry.get("onFailure", "continue") != "continue"
    for name in _list(entry.get("hookCallbackIds")):
        yield Callback(str(name), matcher, patience, blocks)


class ClientHooks:
    """Calls the client back. Implements `ConversationHooks`."""

    def __init__(
        self,
        client: Client,
        callbacks: Mapping[str, Sequence[Callback]],
        common: Mapping[str, Any],
    ) -> None:
        self._client = client
        self._callbacks = callbacks
        self._common = common  # fields of each input
        self._told: list[str] = []
        self._has_objected = False

    async def before(self, call: Call) -> HookRuling:
        """See `CallHooks.before`."""
        ruling = _NO_RULING
        for callback in self._of("PreToolUse", call.name):
            given = call.given if ruling.given is None else ruling.given
            answer = await self._called(callback, "PreToolUse", _of_call(call, given), call.id)
            ruling = _added(ruling, _ruling(answer))
            self._tell(answer)
            if ruling.denies:
                break
        return ruling

    async def after(self, call: Call, result: Result) -> None:
        """See `CallHooks.after`."""
        moment = "PostToolUseFailure" if result.is_error else "PostToolUse"
        content: Any = dict(result.details) or result.content
        more = {"error": str(result.content)} if result.is_error else {"tool_response": content}
        for callback in self._of(moment, call.name):
            fields = {**_of_call(call, call.given), **more}
            answer = await self._called(callback, moment, fields, call.id)
            self._tell(answer)
            ruling = _ruling(answer)
            if ruling.denies:
                self._told.append(ruling.reason)

    async def prompted(self, text: str) -> HookRuling:
        """See `ConversationHooks.prompted`."""
        self._has_objected = False
        for callback in self._of("UserPromptSubmit", ""):
            answer = await self._called(callback, "UserPromptSubmit", {"prompt": text})
            self._tell(answer)
            ruling = _ruling(answer)
            if ruling.denies:
                return ruling
        return _NO_RULING

    async def object(self, text: str) -> str:
        """See `ConversationHooks.object`."""
        for callback in self._of("Stop", ""):
            fields = {"stop_hook_active": self._has_objected, "last_assistant_message": text}
            ruling = _ruling(await self._called(callback, "Stop", fields))
            if ruling.denies and not ruling.ends_turn:
                self._has_objected = True
                return ruling.reason
        return ""

    def take_told(self) -> list[str]:
        """See `ConversationHooks.take_told`."""
        told, self._told = self._told, []
        return told

    def _of(self, moment: str, tool: str) -> list[Callback]:
        return [each for each in self._callbacks.get(moment, ()) if not tool or each.fits(tool)]

    def _tell(self, answer: Mapping[str, Any]) -> None:
        context = _specific(answer).get("additionalContext")
        if isinstance(context, str) and context:
            self._told.append(context)

    async def _called(
        self, callback: Callback, moment: str, fields: Mapping[str, Any], call: str = ""
    ) -> Mapping[str, Any]:
        """Return the client's answer; where there is none, what that comes to."""
        given = {**self._common, "hook_event_name": moment, **fields}
        request = {"callback_id": callback.id, "input": given, "tool_use_id": call or None}
        try:
            async with asyncio.timeout(callback.patience_s):
                answer = await self._client.request("hook_callback", request)
        except (TimeoutError, Unanswered) as error:
            why = str(error) or f"it took more than {callback.patience_s:g} s"
        else:
            if not answer.error:
                return answer.fields
            why = answer.error
        if callback.blocks:
            return {"decision": "block", "reason": f"a hook of the client failed: {why}"}
        return {}


def _of_call(call: Call, given: Mapping[str, Any]) -> dict[str, Any]:
    return {"tool_name": call.name, "tool_input": dict(given), "tool_use_id": call.id}


def _specific(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    found = answer.get("hookSpecificOutput")
    return found if isinstance(found, dict) else {}


def _ruling(answer: Mapping[str, Any]) -> HookRuling:
    """Return what an answer says about what it was asked about."""
    specific = _specific(answer)
    decision = specific.get("permissionDecision")
    ends_turn = answer.get("continue") is False
    denies = ends_turn or decision == "deny" or answer.get("decision") == "block"
    given = specific.get("updatedInput")
    reasons = [specific.get("permissionDecisionReason")]
    reasons += [answer.get("reason"), answer.get("stopReason")]
    reason = next((each for each in reasons if isinstance(each, str) and each), "no reason given")
    return HookRuling(
        denies=denies,
        reason=f"A hook of the client objects: {reason}" if denies else "",
        ends_turn=ends_turn,
        allows=not denies and (decision == "allow" or answer.get("decision") == "approve"),
        asks=not denies and decision == "ask",
        given=given if isinstance(given, dict) and not denies else None,
    )


def _added(before: HookRuling, more: HookRuling) -> HookRuling:
    """Return what two rulings come to: the stricter counts, and the later input."""
    if before.denies or more.denies:
        return before if before.denies else more
    asks = before.asks or more.asks
    return HookRuling(
        allows=(before.allows or more.allows) and not asks,
        asks=asks,
        given=before.given if more.given is None else more.given,
    )


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
