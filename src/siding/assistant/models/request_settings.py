"""What providers are asked for beside the messages: prompt caches, effort, thinking. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from siding.agents.own.providers import Wire
from siding.assistant.loop.messages import Block
from siding.assistant.loop.model import Cache, Effort, Request, Thinking
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


# -- Effort and thinking as the settings of each wire. Pure ----------------------------------------
#
# The library knows which model takes what and sends the nearest; here is decided what is asked for.
# `profile` is what it knows of the model.


Level = bool | str | None  # off, on, how much; None leaves it to the model

_LEAST_BUDGET = 1024  # tokens; Anthropic takes no less
_LEFT_FOR_TEXT = 1024
_BUDGETS = {"low": 2_048, "medium": 10_240, "high": 16_384, "xhigh": 32_768, "max": 63_999}


def settings(
    wire: Wire, request: Request, profile: Mapping[str, Any], max_output: int
) -> dict[str, Any]:
    """Return the settings that say how much the model is to think."""
    if isinstance(request.effort, int) and request.thinking is not Thinking.OFF:
        exact = _budget(wire, request.effort, profile, max_output)
        if exact is not None:
            return exact
    level = _level(request)
    if wire is Wire.MESSAGES:
        return _messages(level, request, profile, max_output)
    found: dict[str, Any] = {} if level is None else {"thinking": level}
    if wire is Wire.RESPONSES and request.thinking is Thinking.ON:
        found["openai_reasoning_summary"] = "auto"
    return found


def _level(request: Request) -> Level:
    if request.thinking is Thinking.OFF:
        return False
    if request.effort is not None:
        return _nearest(request.effort).value
    return True if request.thinking is Thinking.ON else None


def _nearest(effort: Effort | int) -> Effort:
    """Return the effort whose budget is the smallest that is enough."""
    if isinstance(effort, Effort):
        return effort
    enough = (name for name, budget in _BUDGETS.items() if budget >= effort)
    return Effort(next(enough, Effort.MAX))


def _budget(
    wire: Wire, tokens: int, profile: Mapping[str, Any], max_output: int
) -> dict[str, Any] | None:
    """Return the settings for so many tokens of thought; None where there are levels only."""
    if wire is Wire.MESSAGES and not profile.get("anthropic_disallows_budget_thinking"):
        return _enabled(tokens, max_output)
    if wire is Wire.GEMINI and not profile.get("google_supports_thinking_level", True):
        config = {"thinking_budget": tokens, "include_thoughts": tokens > 0}
        return {"google_thinking_config": config}
    return None


def _messages(
    level: Level, request: Request, profile: Mapping[str, Any], max_output: int
) -> dict[str, Any]:
    if level is None:
        return {}
    if level is False:
        found: dict[str, Any] = {"thinking": False}
        if request.effort is not None and profile.get("anthropic_supports_effort"):
            effort = _nearest(request.effort).value
            too_much = effort in ("xhigh", "max")  # some take these only with thinking
            found["anthropic_effort"] = "high" if too_much else effort
        return found
    if profile.get("anthropic_supports_adaptive_thinking") or not profile.get("supports_thinking"):
        return {"thinking": level}
    return _enabled(_BUDGETS["medium" if level is True else level], max_output)


def _enabled(tokens: int, max_output: int) -> dict[str, Any]:
    """Return a budget that leaves room for an answer; none where there is no room for thoughts."""
    budget = min(max(tokens, _LEAST_BUDGET), max_output - _LEFT_FOR_TEXT)
    if budget < _LEAST_BUDGET:
        return {}
    return {"anthropic_thinking": {"type": "enabled", "budget_tokens": budget}}
