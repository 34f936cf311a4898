"""Anthropic's Messages API, 2023-06-01."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from wires.answers import Reply, Text, Thought, ToolUse
from wires.server import Seen, sse

ping = sse({"type": "ping"}, "ping")


def _usage(reply: Reply, output: int) -> dict[str, Any]:
    return {
        "input_tokens": reply.used.fresh,
        "cache_creation_input_tokens": reply.used.written,
        "cache_read_input_tokens": reply.used.read,
        "output_tokens": output,
    }


def _said(reply: Reply) -> int:
    return reply.used.said + reply.used.thought


def _reason(reply: Reply) -> str:
    calls = any(isinstance(part, ToolUse) for part in reply.parts)
    return reply.reason or ("tool_use" if calls else "end_turn")


def _message(reply: Reply, model: str) -> dict[str, Any]:
    return {
        "id": "msg_01",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": _usage(reply, 1),
    }


def _block(part: Text | Thought | ToolUse) -> dict[str, Any]:
    match part:
        case Text(pieces):
            return {"type": "text", "text": "".join(pieces)}
        case Thought(_, signature, True):
            return {"type": "redacted_thinking", "data": signature}
        case Thought(text, signature):
            return {"type": "thinking", "thinking": text, "signature": signature}
        case ToolUse(call, name):
            given = json.loads(part.raw)
            return {"type": "tool_use", "id": call, "name": name, "input": given}


def _deltas(part: Text | Thought | ToolUse) -> list[dict[str, Any]]:
    match part:
        case Text(pieces):
            return [{"type": "text_delta", "text": piece} for piece in pieces]
        case Thought(_, _, True):
            return []
        case Thought(text, signature):
            thought = [{"type": "thinking_delta", "thinking": text}] if text else []
            return [*thought, {"type": "signature_delta", "signature": signature}]
        case ToolUse():
            half = len(part.raw) // 2
            halves = ("", part.raw[:half], part.raw[half:])
            return [{"type": "input_json_delta", "partial_json": each} for each in halves]


def _empty(part: Text | Thought | ToolUse) -> dict[str, Any]:
    match part:
        case Text():
            return {"type": "text", "text": ""}
        case Thought(_, signature, True):
            return {"type": "redacted_thinking", "data": signature}
        case Thought():
            return {"type": "thinking", "thinking": "", "signature": ""}
        case ToolUse(call, name):
            return {"type": "tool_use", "id": call, "name": name, "input": {}}


def events(reply: Reply, model: str) -> Sequence[bytes]:
    found: list[dict[str, Any]] = [{"type": "message_start", "message": _message(reply, model)}]
    for index, part in enumerate(reply.parts):
        start = {"index": index, "content_block": _empty(part)}
        found.append({"type": "content_block_start", **start})
        if index == 0:
            found.append({"type": "ping"})
        found += [
            {"type": "content_block_delta", "index": index, "delta": delta}
            for delta in _deltas(part)
        ]
        found.append({"type": "content_block_stop", "index": index})
    delta = {"stop_reason": _reason(reply), "stop_sequence": None}
    usage = {"output_tokens": _said(reply)}
    found.append({"type": "message_delta", "delta": delta, "usage": usage})
    found.append({"type": "message_stop"})
    return [sse(event, event["type"]) for event in found]


def whole(reply: Reply, model: str) -> Mapping[str, Any]:
    return {
        **_message(reply, model),
        "content": [_block(part) for part in reply.parts],
        "stop_reason": _reason(reply),
        "usage": _usage(reply, _said(reply)),
    }


def error(kind: str, message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


def error_event(said: Mapping[str, Any]) -> bytes:
    return sse(said, "error")


def is_streamed(seen: Seen) -> bool:
    return bool(seen.body.get("stream"))
