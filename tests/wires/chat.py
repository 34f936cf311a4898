"""OpenAI's chat completions."""

from collections.abc import Mapping, Sequence
from typing import Any

from wires.answers import Reply, Text, Thought, ToolUse
from wires.server import Seen, sse

ping = b": keep-alive\n\n"


def _usage(reply: Reply) -> dict[str, Any]:
    sent = reply.used.fresh + reply.used.read
    said = reply.used.said + reply.used.thought
    return {
        "prompt_tokens": sent,
        "completion_tokens": said,
        "total_tokens": sent + said,
        "prompt_tokens_details": {"cached_tokens": reply.used.read},
        "completion_tokens_details": {"reasoning_tokens": reply.used.thought},
    }


def _reason(reply: Reply) -> str:
    calls = any(isinstance(part, ToolUse) for part in reply.parts)
    return reply.reason or ("tool_calls" if calls else "stop")


def _head(model: str, kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-01", "object": kind, "created": 1_790_000_000, "model": model}


def events(reply: Reply, model: str) -> Sequence[bytes]:
    head = _head(model, "chat.completion.chunk")
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    calls = 0
    for part in reply.parts:
        match part:
            case Text(pieces):
                deltas += [{"content": piece} for piece in pieces]
            case Thought(text):  # as servers of open models have it
                deltas.append({"reasoning_content": text})
            case ToolUse(call, name):
                deltas += _call_deltas(calls, call, name, part.raw)
                calls += 1
    chunks = [
        {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        for delta in deltas
    ]
    ended = {"index": 0, "delta": {}, "finish_reason": _reason(reply)}
    chunks.append({**head, "choices": [ended]})
    chunks.append({**head, "choices": [], "usage": _usage(reply)})
    return [*map(sse, chunks), sse("[DONE]")]


def _call_deltas(index: int, call: str, name: str, raw: str) -> list[dict[str, Any]]:
    half = len(raw) // 2
    first: dict[str, Any] = {
        "id": call,
        "type": "function",
        "function": {"name": name, "arguments": ""},
    }
    pieces = [{"function": {"arguments": each}} for each in (raw[:half], raw[half:])]
    return [{"tool_calls": [{"index": index, **each}]} for each in (first, *pieces)]


def whole(reply: Reply, model: str) -> Mapping[str, Any]:
    said = "".join("".join(part.pieces) for part in reply.parts if isinstance(part, Text))
    calls = [
        {"id": part.id, "type": "function", "function": {"name": part.name, "arguments": part.raw}}
        for part in reply.parts
        if isinstance(part, ToolUse)
    ]
    thoughts = [part.text for part in reply.parts if isinstance(part, Thought)]
    message = {
        "role": "assistant",
        "content": said or None,
        **({"tool_calls": calls} if calls else {}),
        **({"reasoning_content": "".join(thoughts)} if thoughts else {}),
    }
    choice = {"index": 0, "message": message, "finish_reason": _reason(reply)}
    return {**_head(model, "chat.completion"), "choices": [choice], "usage": _usage(reply)}


def error(kind: str, message: str, code: str | None = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def error_event(said: Mapping[str, Any]) -> bytes:
    return sse(said)


def is_streamed(seen: Seen) -> bool:
    return bool(seen.body.get("stream"))
