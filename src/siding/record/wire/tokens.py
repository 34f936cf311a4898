"""What the answer of a model says about itself: the API's words, turned into counts. Pure.

Known are the Messages API of Anthropic, the Responses API and the chat completions of OpenAI, and
the Gemini API, each as one object and as a stream of events. An object is told by its shape, not
by the path that was asked for, so whoever speaks one of these APIs is counted.
"""

import re
from collections.abc import Mapping
from typing import Any

from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import mapping, mappings, text, whole

_NAME = re.compile(r"[\w.:/@+-]{1,100}")
_FINISHED = frozenset({"message_stop", "response.completed", "response.incomplete"})
_FAILED = frozenset({"response.failed", "error"})


class Tokens(NamedTuple):
    """Counts of one call; they mean what those of `siding usage` mean."""

    input: int = 0
    cache_read: int = 0
    cache_write_5m: int = 0
    cache_write_1h: int = 0
    output: int = 0
    reasoning: int = 0


class Said(NamedTuple):
    """What one object of an answer says. `tokens` is None if it does not say how many."""

    model: str = ""
    tokens: Tokens | None = None
    error: str = ""  # the API's word for what went wrong, such as ``overloaded_error``
    is_finished: bool = False  # the API says that the answer is whole
    is_known: bool = False  # it is an answer of one of these APIs


def said_in(found: Mapping[str, Any], before: Tokens | None = None) -> Said:
    """Return what an object of an answer says; `before` is what earlier events of it have said."""
    kind = text(found.get("type"))
    if kind in _FAILED or (not kind and mapping(found.get("error"))):
        return _failure(found)
    if kind in ("message_start", "message", "message_delta"):
        message = mapping(found.get("message")) or found
        usage = mapping(message.get("usage"))
        tokens = _of_anthropic(usage, before) if usage else before
        is_whole = kind == "message"
        return _known(message.get("model"), tokens, is_finished=is_whole)
    inner = mapping(found.get("response"))
    if kind.startswith("response.") or found.get("object") == "response":
        return _of_responses(inner or found, before, is_finished=kind in ("", *_FINISHED))
    if inner.get("usageMetadata") or inner.get("candidates"):
        found = inner  # the API behind a Google account wraps what the other one says
    if "usageMetadata" in found or "candidates" in found:
        return _of_google(found, before)
    if "choices" in found or mapping(found.get("usage")):
        return _of_chat(found, before)
    return Said(tokens=before, is_finished=kind in _FINISHED)


def name_in(value: object) -> str:
    """Return a name of a model, or of an error; "" for what is no such name."""
    found = _NAME.fullmatch(text(value))
    return found.group() if found else ""


def _known(model: object, tokens: Tokens | None, *, is_finished: bool) -> Said:
    return Said(name_in(model), tokens, is_finished=is_finished, is_known=True)


def _failure(found: Mapping[str, Any]) -> Said:
    inner = mapping(found.get("response")) or found
    error = mapping(inner.get("error"))
    words = (error.get("type"), error.get("status"), error.get("code"), "error")
    return Said(name_in(inner.get("model")), error=next(filter(None, map(name_in, words))))


def _of_anthropic(usage: Mapping[str, Any], before: Tokens | None) -> Tokens:
    """Return the counts of a message. Those of an event replace those of the events before it."""
    old = before or Tokens()
    written = mapping(usage.get("cache_creation"))
    long = _count(written, "ephemeral_1h_input_tokens", old.cache_write_1h)
    all_written = _count(
        usage, "cache_creation_input_tokens", old.cache_write_5m + old.cache_write_1h
    )
    return Tokens(
        input=_count(usage, "input_tokens", old.input),
        cache_read=_count(usage, "cache_read_input_tokens", old.cache_read),
        cache_write_5m=max(0, all_written - long),
        cache_write_1h=long,
        output=_count(usage, "output_tokens", old.output),
    )


def _of_responses(found: Mapping[str, Any], before: Tokens | None, *, is_finished: bool) -> Said:
    usage = mapping(found.get("usage"))
    tokens = before
    if usage:
        sent, cached = whole(usage.get("input_tokens")), mapping(usage.get("input_tokens_details"))
        thought = mapping(usage.get("output_tokens_details"))
        read = whole(cached.get("cached_tokens"))
        tokens = Tokens(
            input=max(0, sent - read),
            cache_read=read,
            output=whole(usage.get("output_tokens")),
            reasoning=whole(thought.get("reasoning_tokens")),
        )
    return _known(found.get("model"), tokens, is_finished=is_finished)


def _of_chat(found: Mapping[str, Any], before: Tokens | None) -> Said:
    usage = mapping(found.get("usage"))
    tokens = before
    if usage:
        cached = mapping(usage.get("prompt_tokens_details"))
        thought = mapping(usage.get("completion_tokens_details"))
        read = whole(cached.get("cached_tokens"))
        tokens = Tokens(
            input=max(0, whole(usage.get("prompt_tokens")) - read),
            cache_read=read,
            output=whole(usage.get("completion_tokens")),
            reasoning=whole(thought.get("reasoning_tokens")),
        )
    reasons = [each.get("finish_reason") for each in mappings(found.get("choices"))]
    return _known(found.get("model"), tokens, is_finished=any(reasons))


def _of_google(found: Mapping[str, Any], before: Tokens | None) -> Said:
    usage = mapping(found.get("usageMetadata"))
    tokens = before
    if usage:
        read = whole(usage.get("cachedContentTokenCount"))
        sent = whole(usage.get("promptTokenCount")) + whole(usage.get("toolUsePromptTokenCount"))
        thoughts = whole(usage.get("thoughtsTokenCount"))
        tokens = Tokens(
            input=max(0, sent - read),
            cache_read=read,
            output=whole(usage.get("candidatesTokenCount")) + thoughts,
            reasoning=thoughts,
        )
    reasons = [each.get("finishReason") for each in mappings(found.get("candidates"))]
    return _known(found.get("modelVersion"), tokens, is_finished=any(reasons))


def _count(usage: Mapping[str, Any], key: str, default: int) -> int:
    return max(0, whole(usage.get(key))) if key in usage else default
