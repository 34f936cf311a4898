"""Answers of models as they are on the wire, with the counts that are in them."""

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from siding.record.wire.tokens import Tokens


class Answer(NamedTuple):
    """One answer: a whole body, and what has to be read from it."""

    name: str
    content_type: str
    body: bytes
    model: str
    tokens: Tokens
    is_finished: bool = True


def stream(events: Iterable[dict[str, Any]], *, named: bool = True, end: str = "\n") -> bytes:
    """Return events as a stream has them."""
    lines = []
    for event in events:
        kind = f"event: {event['type']}{end}" if named and "type" in event else ""
        lines.append(f"{kind}data: {json.dumps(event)}{end}{end}")
    return "".join(lines).encode()


_CREATED = {"ephemeral_5m_input_tokens": 30, "ephemeral_1h_input_tokens": 70}
_SENT = {
    "input_tokens": 7,
    "cache_read_input_tokens": 1000,
    "cache_creation_input_tokens": 100,
    "cache_creation": _CREATED,
    "output_tokens": 1,
}
_ANTHROPIC = Tokens(7, 1000, 30, 70, 25, 0)
_MESSAGE = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-opus-5"}
_RESPONSE = {"id": "resp_1", "object": "response", "model": "gpt-5.5"}
_RESPONSE_USAGE = {
    "input_tokens": 120,
    "input_tokens_details": {"cached_tokens": 100},
    "output_tokens": 30,
    "output_tokens_details": {"reasoning_tokens": 12},
}
_CHAT_USAGE = {
    "prompt_tokens": 120,
    "prompt_tokens_details": {"cached_tokens": 100},
    "completion_tokens": 30,
    "completion_tokens_details": {"reasoning_tokens": 12},
}
_OPENAI = Tokens(20, 100, 0, 0, 30, 12)
_GEMINI_USAGE = {
    "promptTokenCount": 110,
    "toolUsePromptTokenCount": 10,
    "cachedContentTokenCount": 100,
    "candidatesTokenCount": 18,
    "thoughtsTokenCount": 12,
}
_PARTS = {"content": {"role": "model", "parts": [{"text": "hello"}]}, "index": 0}
_GEMINI: list[dict[str, Any]] = [
    {
        "candidates": [_PARTS],
        "usageMetadata": {"promptTokenCount": 110},
        "modelVersion": "gemini-3",
    },
    {
        "candidates": [{**_PARTS, "finishReason": "STOP"}],
        "usageMetadata": _GEMINI_USAGE,
        "modelVersion": "gemini-3",
    },
]
_MESSAGES: list[dict[str, Any]] = [
    {"type": "message_start", "message": {**_MESSAGE, "usage": _SENT}},
    {"type": "ping"},
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": '"usage'}},
    {"type": "content_block_stop", "index": 0},
    {"type": "message_delta", "delta": {"stop_reason": "x"}, "usage": {"output_tokens": 25}},
    {"type": "message_stop"},
]
_RESPONSES: list[dict[str, Any]] = [
    {"type": "response.created", "response": {**_RESPONSE, "usage": None}},
    {"type": "response.output_text.delta", "delta": "hello"},
    {"type": "response.completed", "response": {**_RESPONSE, "usage": _RESPONSE_USAGE}},
]
_CHUNK = {"object": "chat.completion.chunk", "model": "gpt-5.5"}
_CHUNKS: list[dict[str, Any]] = [
    {**_CHUNK, "choices": [{"index": 0, "delta": {"content": "hello"}, "finish_reason": None}]},
    {**_CHUNK, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
    {**_CHUNK, "choices": [], "usage": _CHAT_USAGE},
]
_SSE, _JSON = "text/event-stream; charset=utf-8", "application/json"


def _json(value: object) -> bytes:
    return json.dumps(value).encode()


ANSWERS = (
    Answer("messages, streamed", _SSE, stream(_MESSAGES), "claude-opus-5", _ANTHROPIC),
    Answer(
        "messages, lines end in CRLF",
        _SSE,
        stream(_MESSAGES, end="\r\n"),
        "claude-opus-5",
        _ANTHROPIC,
    ),
    Answer(
        "messages",
        _JSON,
        _json({**_MESSAGE, "content": [], "usage": {**_SENT, "output_tokens": 25}}),
        "claude-opus-5",
        _ANTHROPIC,
    ),
    Answer("responses, streamed", _SSE, stream(_RESPONSES), "gpt-5.5", _OPENAI),
    Answer("responses", _JSON, _json({**_RESPONSE, "usage": _RESPONSE_USAGE}), "gpt-5.5", _OPENAI),
    Answer(
        "chat, streamed",
        _SSE,
        stream(_CHUNKS, named=False) + b"data: [DONE]\n\n",
        "gpt-5.5",
        _OPENAI,
    ),
    Answer(
        "chat",
        _JSON,
        _json({**_CHUNKS[1], "object": "chat.completion", "usage": _CHAT_USAGE}),
        "gpt-5.5",
        _OPENAI,
    ),
    Answer("gemini, streamed", _SSE, stream(_GEMINI, named=False), "gemini-3", _OPENAI),
    Answer("gemini, a list", _JSON, _json(_GEMINI), "gemini-3", _OPENAI),
    Answer(
        "gemini of an account",
        _SSE,
        stream([{"response": each} for each in _GEMINI], named=False),
        "gemini-3",
        _OPENAI,
    ),
    Answer(
        "messages, cut",
        _SSE,
        stream(_MESSAGES[:4]),
        "claude-opus-5",
        _ANTHROPIC._replace(output=1),
        is_finished=False,
    ),
)
