"""Effort and thinking as the settings of each wire. Pure.

The library knows which model takes what and sends the nearest; here is decided what is asked for.
`profile` is what it knows of the model.
"""

from collections.abc import Mapping
from typing import Any

from siding.agents.own.providers import Wire
from siding.assistant.loop.model import Effort, Request, Thinking

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
