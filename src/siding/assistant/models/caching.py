"""What providers are asked to keep of a prompt: switches, Anthropic's breakpoints, OpenAI's key.

Pure. The other providers keep prompts without being asked.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from siding.assistant.loop.messages import Block
from siding.assistant.loop.model import Cache, Request
from siding.ground.hashing import sha256_hex

_OFF = "DISABLE_PROMPT_CACHING"
_FAMILIES = ("haiku", "sonnet", "opus")
_NO = {"", "0", "false", "no", "off"}
_NOT_MARKED = {"thinking", "redacted_thinking"}


def wanted(request: Request, name: str, environment: Mapping[str, str]) -> Cache:
    """Return what a request asks for, unless a variable of the environment is against it."""
    switches = [_OFF, *(f"{_OFF}_{each.upper()}" for each in _FAMILIES if each in name.lower())]
    if any(environment.get(switch, "").strip().lower() not in _NO for switch in switches):
        return Cache.OFF
    return request.cache


def control(cache: Cache) -> dict[str, str]:
    """Return a mark of Anthropic's: the prompt is kept up to the block that has it."""
    ttl = {"ttl": "1h"} if cache is Cache.LONG else {}
    return {"type": "ephemeral", **ttl}


def mark_last(blocks: Sequence[dict[str, Any]], cache: Cache) -> None:
    """Mark the last block that can be, if there is one."""
    for block in reversed(blocks):
        if block.get("type") not in _NOT_MARKED:
            block["cache_control"] = control(cache)
            return


def mark_messages(messages: Sequence[dict[str, Any]], cache: Cache) -> None:
    """Mark the last two messages of the user.

    The first of the two ends what the request before this one has sent, so it is found again
    however many blocks came since: the provider looks back twenty only.
    """
    users = [message for message in messages if message["role"] == "user"]
    for message in users[-2:]:
        mark_last(message["content"], cache)


def key_of(request: Request) -> str:
    """Return what OpenAI sends requests of one conversation to the same machine by."""
    first: Sequence[Block] = request.messages[0].content if request.messages else ()
    beginning = repr((request.model, tuple(request.system[: request.stable]), first))
    return "siding-" + sha256_hex(beginning.encode())[:32]
