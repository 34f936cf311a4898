"""What Anthropic's Messages API is sent: the blocks as they are. Pure.

The library would take blocks apart and put them together again. Signatures hold only for thoughts
that come back as they were, so the blocks go around it, into the body.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from siding.assistant.loop.messages import Block, Message
from siding.assistant.loop.model import Cache, Request
from siding.assistant.models.caching import mark_last, mark_messages

SIGNERS = {"anthropic", "bedrock", "vertex"}  # they check each other's signatures
_THOUGHTS = {"thinking", "redacted_thinking"}


def body(request: Request, cache: Cache) -> dict[str, Any]:
    """Return the texts of the system, the tools and the messages, with the cache's marks."""
    system: list[dict[str, Any]] = [
        {"type": "text", "text": text} for text in request.system if text.strip()
    ]
    stable = sum(1 for text in request.system[: request.stable] if text.strip())
    tools = [
        {"name": tool.name, "description": tool.description, "input_schema": dict(tool.schema)}
        for tool in request.tools
    ]
    messages = [each for each in map(_message, request.messages) if each["content"]]
    if cache is not Cache.OFF:
        mark_last(system[:stable], cache)
        mark_last(tools, cache)
        mark_messages(messages, cache)
    found = {"system": system, "tools": tools, "messages": messages}
    return {key: value for key, value in found.items() if value}


def _message(message: Message) -> dict[str, Any]:
    content = [dict(block) for block in message.content if _is_sent(block, message.kept)]
    return {"role": message.role, "content": content}


def _is_sent(block: Block, kept: Mapping[str, Any]) -> bool:
    kind = block.get("type")
    if kind in _THOUGHTS:
        is_signed = block.get("signature") or block.get("data")
        return bool(is_signed) and kept.get("provider", "anthropic") in SIGNERS
    return kind != "text" or bool(str(block.get("text", "")).strip())  # empty ones are refused


def texts(content: Sequence[Block]) -> str:
    """Return the texts among blocks."""
    return "".join(block["text"] for block in content if block.get("type") == "text")
