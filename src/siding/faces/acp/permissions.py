"""What an agent asks, as a request for permission, and what a client answers to it."""

from collections.abc import Mapping, Sequence
from typing import Any

from siding.chat.face import OpenAsk, Reply
from siding.chat.wording import LASTS
from siding.faces.acp.diffs import shown_edits

_ONCE, _NO = "allow", "reject"
_ALWAYS = "always-"  # and for how long
_CHOICE = "choice-"


def can_be_put(asked: Mapping[str, Any]) -> bool:
    """Tell whether a client can be asked this: a permission, or one choice among options."""
    choices: Sequence[Mapping[str, Any]] = asked.get("choices", ())
    if not choices:
        return True
    first = choices[0]
    return len(choices) == 1 and not first.get("several") and len(first.get("options", ())) > 1


def request_of(ask: OpenAsk, call: str, workspace: str) -> dict[str, Any]:
    """Return the fields of a request for permission. `call` is the id that the client knows."""
    asked = ask.said
    shown = shown_edits(asked.get("edits", ()), workspace)
    reason = [str(asked["reason"])] if asked.get("reason") else []
    choices = asked.get("choices", ())
    texts = [str(choices[0]["question"])] if choices else reason
    content = [{"type": "content", "content": {"type": "text", "text": each}} for each in texts]
    tool: dict[str, Any] = {
        "toolCallId": call or f"ask-{asked.get('ask')}",
        "title": str(asked.get("title") or asked.get("command") or "It asks"),
        "kind": str(asked.get("kind", "other")),
        "status": "pending",
        "rawInput": asked.get("input", {}),
    }
    if content or shown.content:
        tool["content"] = [*content, *shown.content]
    if shown.places:
        tool["locations"] = shown.places
    return {"toolCall": tool, "options": _options(ask)}


def reply_in(asked: Mapping[str, Any], result: Mapping[str, Any]) -> Reply | None:
    """Return what was chosen; None if nothing was."""
    outcome = result.get("outcome")
    if not isinstance(outcome, Mapping) or outcome.get("outcome") != "selected":
        return None
    option = str(outcome.get("optionId"))
    if option == _ONCE:
        return Reply(allows=True)
    if option.startswith(_ALWAYS):
        return Reply(allows=True, always=option.removeprefix(_ALWAYS))
    if option == _NO:
        return Reply(allows=False)
    choices = asked.get("choices", ())
    place = option.removeprefix(_CHOICE)
    if not choices or not place.isdecimal() or int(place) >= len(choices[0]["options"]):
        return None
    return Reply(choices=(f"1={choices[0]['options'][int(place)][0]}",))


def _options(ask: OpenAsk) -> list[dict[str, str]]:
    choices = ask.said.get("choices", ())
    if choices:
        return [
            {"optionId": f"{_CHOICE}{place}", "name": _named(option), "kind": "allow_once"}
            for place, option in enumerate(choices[0]["options"])
        ]
    options = [
        {"optionId": _ONCE, "name": "Allow", "kind": "allow_once"},
        {"optionId": _NO, "name": "Refuse", "kind": "reject_once"},
    ]
    options[1:1] = [
        {"optionId": f"{_ALWAYS}{each}", "name": _for_long(ask, each), "kind": "allow_always"}
        for each in ask.always
    ]
    return options


def _for_long(ask: OpenAsk, scope: str) -> str:
    how_long = LASTS.get(scope, scope)
    is_agents_own = scope == "conversation" and ask.said.get("can_always") is True
    what = "" if is_agents_own else ask.may
    return f"Allow always, {how_long}{f': {what}' if what else ''}"


def _named(option: Sequence[str]) -> str:
    label, about = option
    return f"{label}: {about}" if about else label
