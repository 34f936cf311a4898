"""The questions of an agent as a form (`elicitation/create`), and what a client fills in."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from siding.chat.face import Reply


def form_of(asked: Mapping[str, Any], call: str) -> dict[str, Any]:
    """Return the fields of a request for a form: a field for each question.

    `call` is the id of the call that asks, as the client knows it; "" if it knows none.
    """
    choices: Sequence[Mapping[str, Any]] = asked.get("choices", ())
    fields = {_name(number): _field(each) for number, each in enumerate(choices, start=1)}
    schema = {"type": "object", "properties": fields, "required": list(fields)}
    of_call = {"toolCallId": call} if call else {}
    message = str(asked.get("title") or "It asks")
    return {"mode": "form", "message": message, "requestedSchema": schema, **of_call}


def reply_in_form(asked: Mapping[str, Any], result: Mapping[str, Any]) -> Reply | None:
    """Return what was filled in; None if the form was closed."""
    if result.get("action") == "decline":
        return Reply(allows=False)
    content = result.get("content")
    if result.get("action") != "accept" or not isinstance(content, Mapping):
        return None
    return Reply(choices=tuple(_chosen(len(asked.get("choices", ())), content)))


def _chosen(count: int, content: Mapping[str, Any]) -> Iterator[str]:
    for number in range(1, count + 1):
        given = content.get(_name(number), ())
        for each in given if isinstance(given, list | tuple) else [given]:
            yield f"{number}={each}"


def _field(choice: Mapping[str, Any]) -> dict[str, Any]:
    title = str(choice.get("question", ""))
    options = [
        {"const": label, "title": f"{label}: {about}" if about else label}
        for label, about in choice.get("options", ())
    ]
    if len(options) < 2:
        return {"type": "string", "title": title}
    if choice.get("several"):
        return {"type": "array", "title": title, "items": {"anyOf": options}, "minItems": 1}
    return {"type": "string", "title": title, "oneOf": options}


def _name(number: int) -> str:
    return f"question{number}"
