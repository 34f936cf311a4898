"""The control protocol of Claude Code's stream of JSON, both ways. It reads and writes nothing.

A line of the client is a prompt, a request, or an answer to one of ours. Requests have ids of the
side that asks.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from siding.ground.namedtuples import NamedTuple

Line = dict[str, Any]


class Prompt(NamedTuple):
    """Somebody says something. `line` is what is repeated to a client that wants it.

    `origin` is what the client calls the prompt's, None for nothing.
    """

    content: str | Sequence[dict[str, Any]]
    line: Mapping[str, Any]
    origin: Mapping[str, Any] | None = None


class Asked(NamedTuple):
    """The client wants something, and an answer under this id."""

    id: str
    what: str
    fields: Mapping[str, Any]


class AnsweredAs(NamedTuple):
    """The client's answer to our request; `error` is "" if it is one."""

    id: str
    fields: Mapping[str, Any]
    error: str = ""


class Cancelled(NamedTuple):
    """The client does not want an answer to its request any more."""

    id: str


class Ignored(NamedTuple):
    """A line that asks for nothing: a sign of life."""


class Unreadable(NamedTuple):
    """A line that means nothing to us; `why` is a sentence."""

    why: str


Input = Prompt | Asked | AnsweredAs | Cancelled | Ignored | Unreadable


def read(line: str) -> Input:
    """Return what a line of the client means."""
    if not line.strip():
        return Ignored()
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return Unreadable("the line is no JSON")
    if not isinstance(found, dict):
        return Unreadable("the line is no JSON object")
    match found.get("type"):
        case "user":
            return _prompt(found)
        case "control_request":
            return _asked(found)
        case "control_response":
            return _answered(found)
        case "control_cancel_request":
            return _with_id(found, Cancelled)
        case "keep_alive":
            return Ignored()
        case other:
            return Unreadable(f"there is no message of type {other!r}")


def asking(request: str, what: str, fields: Mapping[str, Any]) -> Line:
    """Return a request to the client."""
    return {
        "type": "control_request",
        "request_id": request,
        "request": {"subtype": what, **fields},
    }


def answering(request: str, fields: Mapping[str, Any] | None = None) -> Line:
    """Return the answer to a request of the client."""
    answer = {"subtype": "success", "request_id": request, "response": dict(fields or {})}
    return {"type": "control_response", "response": answer}


def refusing(request: str, error: str) -> Line:
    """Return the answer to a request that cannot be met."""
    answer = {"subtype": "error", "request_id": request, "error": error}
    return {"type": "control_response", "response": answer}


def cancelling(request: str) -> Line:
    """Return the line that takes a request of ours back."""
    return {"type": "control_cancel_request", "request_id": request}


class Permission(NamedTuple):
    """How the client has answered whether a tool may be used.

    `given` is the input that it runs with, None for the one it had. `updates` are permissions to
    remember. A refusal has a `reason` for the model; with `ends_turn` the turn is over.
    """

    allows: bool
    given: Mapping[str, Any] | None = None
    updates: tuple[Mapping[str, Any], ...] = ()
    reason: str = ""
    ends_turn: bool = False


def permission_in(answer: AnsweredAs) -> Permission:
    """Return the client's answer to `can_use_tool`. Whatever is not plainly a yes is a no."""
    if answer.error:
        return Permission(False, reason=f"the client could not decide: {answer.error}")
    fields = answer.fields
    if fields.get("behavior") == "allow":
        given = fields.get("updatedInput")
        updates = fields.get("updatedPermissions")
        return Permission(
            True,
            given=given if isinstance(given, dict) else None,
            updates=tuple(
                each
                for each in (updates if isinstance(updates, list) else ())
                if isinstance(each, dict)
            ),
        )
    message = fields.get("message")
    return Permission(
        False,
        reason=message if isinstance(message, str) and message else "it was refused",
        ends_turn=fields.get("interrupt") is True,
    )


def _prompt(found: Mapping[str, Any]) -> Input:
    message = found.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    origin = found.get("origin")
    origin = origin if isinstance(origin, dict) else None
    if isinstance(content, str):
        return Prompt(content, found, origin)
    if isinstance(content, list) and all(
        isinstance(each, dict) and isinstance(each.get("type"), str) for each in content
    ):
        return Prompt(content, found, origin)
    return Unreadable("a message of type 'user' has a text or a list of blocks as its content")


def _asked(found: Mapping[str, Any]) -> Input:
    request, request_id = found.get("request"), found.get("request_id")
    if not isinstance(request_id, str) or not request_id:
        return Unreadable("a control_request needs a request_id")
    fields = request if isinstance(request, dict) else {}
    what = fields.get("subtype")
    return Asked(request_id, what if isinstance(what, str) else "", fields)


def _answered(found: Mapping[str, Any]) -> Input:
    response = found.get("response")
    if not isinstance(response, dict) or not isinstance(response.get("request_id"), str):
        return Unreadable("a control_response needs a response with a request_id")
    if response.get("subtype") != "success":
        error = response.get("error")
        return AnsweredAs(
            response["request_id"], {}, error if isinstance(error, str) and error else "no reason"
        )
    fields = response.get("response")
    return AnsweredAs(response["request_id"], fields if isinstance(fields, dict) else {})


def _with_id(found: Mapping[str, Any], kind: type[Cancelled]) -> Input:
    request_id = found.get("request_id")
    if not isinstance(request_id, str):
        return Unreadable("a control_cancel_request needs a request_id")
    return kind(request_id)
