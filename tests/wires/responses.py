"""OpenAI's Responses API."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from wires.answers import Reply, Text, Thought, ToolUse
from wires.server import Seen, sse

ping = b": keep-alive\n\n"


def _usage(reply: Reply) -> dict[str, Any]:
    sent = reply.used.fresh + reply.used.read
    said = reply.used.said + reply.used.thought
    return {
        "input_tokens": sent,
        "input_tokens_details": {"cached_tokens": reply.used.read},
        "output_tokens": said,
        "output_tokens_details": {"reasoning_tokens": reply.used.thought},
        "total_tokens": sent + said,
    }


def _item(part: Text | Thought | ToolUse, number: int) -> dict[str, Any]:
    match part:
        case Text(pieces):
            text = "".join(pieces)
            content = [{"type": "output_text", "text": text, "annotations": [], "logprobs": []}]
            head = {"type": "message", "role": "assistant", "status": "completed"}
            return {"id": f"msg_{number}", **head, "content": content}
        case Thought(text, signature):
            summary = [{"type": "summary_text", "text": text}] if text else []
            head = {"type": "reasoning", "encrypted_content": signature}
            return {"id": f"rs_{number}", **head, "summary": summary}
        case ToolUse(call, name):
            head = {"type": "function_call", "status": "completed", "call_id": call}
            return {"id": f"fc_{number}", **head, "name": name, "arguments": part.raw}


def _response(reply: Reply, model: str, status: str) -> dict[str, Any]:
    found: dict[str, Any] = {
        "id": "resp_01",
        "object": "response",
        "created_at": 1_790_000_000,
        "status": status,
        "model": model,
        "output": [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "usage": None,
    }
    if status == "in_progress":
        return found
    found["output"] = [_item(part, at) for at, part in enumerate(reply.parts)]
    found["usage"] = _usage(reply)
    if status == "incomplete":
        found["incomplete_details"] = {"reason": reply.reason}
    return found


def _status(reply: Reply) -> str:
    return "incomplete" if reply.reason else "completed"


def events(reply: Reply, model: str) -> Sequence[bytes]:
    begun = _response(reply, model, "in_progress")
    found: list[dict[str, Any]] = [
        {"type": "response.created", "response": begun},
        {"type": "response.in_progress", "response": begun},
    ]
    for at, part in enumerate(reply.parts):
        item = _item(part, at)
        empty = {**item, "status": "in_progress"} | _emptied(part)
        found.append({"type": "response.output_item.added", "output_index": at, "item": empty})
        found += [{"output_index": at, "item_id": item["id"], **each} for each in _inner(part)]
        found.append({"type": "response.output_item.done", "output_index": at, "item": item})
    status = _status(reply)
    end = _response(reply, model, status)
    found.append({"type": f"response.{status}", "response": end})
    return [
        sse({**event, "sequence_number": number}, event["type"])
        for number, event in enumerate(found)
    ]


def _emptied(part: Text | Thought | ToolUse) -> dict[str, Any]:
    match part:
        case Text():
            return {"content": []}
        case Thought():
            return {"summary": [], "encrypted_content": ""}
        case ToolUse():
            return {"arguments": ""}


def _inner(part: Text | Thought | ToolUse) -> Iterator[dict[str, Any]]:
    match part:
        case Text(pieces):
            inner = {"type": "output_text", "annotations": [], "logprobs": []}
            at = {"content_index": 0}
            text = "".join(pieces)
            yield {"type": "response.content_part.added", **at, "part": {**inner, "text": ""}}
            for piece in pieces:
                yield {"type": "response.output_text.delta", **at, "delta": piece, "logprobs": []}
            yield {"type": "response.output_text.done", **at, "text": text, "logprobs": []}
            yield {"type": "response.content_part.done", **at, "part": {**inner, "text": text}}
        case Thought(text) if text:
            at = {"summary_index": 0}
            summary = {"type": "summary_text", "text": text}
            empty = {**summary, "text": ""}
            yield {"type": "response.reasoning_summary_part.added", **at, "part": empty}
            yield {"type": "response.reasoning_summary_text.delta", **at, "delta": text}
            yield {"type": "response.reasoning_summary_text.done", **at, "text": text}
            yield {"type": "response.reasoning_summary_part.done", **at, "part": summary}
        case ToolUse(_, name):
            half = len(part.raw) // 2
            for each in (part.raw[:half], part.raw[half:]):
                yield {"type": "response.function_call_arguments.delta", "delta": each}
            done = {"arguments": part.raw, "name": name}
            yield {"type": "response.function_call_arguments.done", **done}


def whole(reply: Reply, model: str) -> Mapping[str, Any]:
    return _response(reply, model, _status(reply))


def error(kind: str, message: str, code: str | None = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def error_event(said: Mapping[str, Any]) -> bytes:
    return sse({"type": "error", "sequence_number": 9, "param": None, **said}, "error")


def is_streamed(seen: Seen) -> bool:
    return bool(seen.body.get("stream"))
