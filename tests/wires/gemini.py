"""The Gemini API: generateContent and streamGenerateContent."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from wires.answers import Reply, Text, Thought, ToolUse
from wires.server import Seen, sse

ping = b": keep-alive\n\n"


def _usage(reply: Reply) -> dict[str, Any]:
    sent = reply.used.fresh + reply.used.read
    total = sent + reply.used.said + reply.used.thought
    return {
        "promptTokenCount": sent,
        "cachedContentTokenCount": reply.used.read,
        "candidatesTokenCount": reply.used.said,
        "thoughtsTokenCount": reply.used.thought,
        "totalTokenCount": total,
    }


def _parts(part: Text | Thought | ToolUse) -> list[dict[str, Any]]:
    match part:
        case Text(pieces):
            return [{"text": piece} for piece in pieces]
        case Thought(text):
            return [{"text": text, "thought": True}]
        case ToolUse(call, name):
            signed = {"thoughtSignature": part.signature} if part.signature else {}
            return [
                {"functionCall": {"id": call, "name": name, "args": json.loads(part.raw)}, **signed}
            ]


def _chunk(parts: list[dict[str, Any]], reply: Reply, reason: str = "") -> dict[str, Any]:
    ended = {"finishReason": reason} if reason else {}
    return {
        "candidates": [{"content": {"role": "model", "parts": parts}, "index": 0, **ended}],
        "usageMetadata": _usage(reply),
        "modelVersion": "gemini-3-pro",
        "responseId": "gem_01",
    }


def events(reply: Reply, model: str) -> Sequence[bytes]:
    parts = [each for part in reply.parts for each in _parts(part)]
    chunks = [_chunk([each], reply) for each in parts]
    return [*map(sse, chunks), sse(_chunk([{"text": ""}], reply, reply.reason or "STOP"))]


def whole(reply: Reply, model: str) -> Mapping[str, Any]:
    parts = [each for part in reply.parts for each in _parts(part)]
    return _chunk(parts, reply, reply.reason or "STOP")


def error(code: int, status: str, message: str, *details: dict[str, Any]) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "status": status, "details": [*details]}}


def error_event(said: Mapping[str, Any]) -> bytes:
    return sse(said)


def is_streamed(seen: Seen) -> bool:
    return "streamGenerateContent" in seen.path
