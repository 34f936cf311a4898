"""A request as each wire has it: the blocks of a conversation, and what stands beside them. Pure.

Beside them stand prompt caches, effort and thinking.
"""

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic_ai.messages import (
    BinaryContent,
    DocumentUrl,
    ImageUrl,
    InstructionPart,
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserContent,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.tools import ToolDefinition

from siding.agents.own.providers import Wire
from siding.assistant.loop.model import Block, Cache, Effort, Message, Request, Thinking
from siding.ground.hashing import sha256_hex

_OFF = "DISABLE_PROMPT_CACHING"
_FAMILIES = ("haiku", "sonnet", "opus")
_NO = {"", "0", "false", "no", "off"}
Level = bool | str | None  # off, on, how much; None leaves it to the model
_LEAST_BUDGET = 1024  # tokens; Anthropic takes no less
_LEFT_FOR_TEXT = 1024
_BUDGETS = {"low": 2_048, "medium": 10_240, "high": 16_384, "xhigh": 32_768, "max": 63_999}
SIGNERS = {"anthropic", "bedrock", "vertex"}  # they check each other's signatures
_THOUGHTS = {"thinking", "redacted_thinking"}
# Servers on one's own machine may refuse an answer of calls alone, whose text would be null.
_WANT_TEXT = frozenset({"local"})
_Content = str | BinaryContent | ImageUrl | DocumentUrl


# -- Prompt caches ---------------------------------------------------------------------------------


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
        if block.get("type") not in _THOUGHTS:
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


# -- What Anthropic's Messages API is sent: the blocks as they are. Pure ---------------------------
#
# The library would take blocks apart and put them together again. Signatures hold only for thoughts
# that come back as they were, so the blocks go around it, into the body.


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


# -- Blocks as the library's messages, for all wires but Anthropic's. Pure -------------------------


def messages(request: Request, provider: str) -> list[ModelMessage]:
    """Return the conversation; answers of the same provider as it gave them."""
    names: dict[str, str] = {}  # of tools, by the id of a call
    found: list[ModelMessage] = []
    for message in request.messages:
        if message.role == "user":
            parts = [*_results(message.content, names), *_prompts(message.content)]
            if parts:
                found.append(ModelRequest(parts=parts))
            continue
        names |= {block["id"]: block["name"] for block in _calls(message.content)}
        answer = _replayed(message, provider) or ModelResponse(parts=[*_said(message.content)])
        if answer.parts:
            found.append(_with_text(answer) if provider in _WANT_TEXT else answer)
    return found


def parameters(request: Request) -> ModelRequestParameters:
    """Return the tools, and the texts of the system."""
    instructions = [
        InstructionPart(content=text, dynamic=at >= request.stable)
        for at, text in enumerate(request.system)
        if text.strip()
    ]
    tools = [
        ToolDefinition(
            name=tool.name,
            description=tool.description,
            parameters_json_schema=dict(tool.schema),
            strict=False,
        )
        for tool in request.tools
    ]
    return ModelRequestParameters(function_tools=tools, instruction_parts=instructions or None)


def kept(answer: ModelResponse, provider: str, *, is_in_blocks: bool) -> dict[str, Any]:
    """Return what the provider wants back of an answer, if the blocks do not have it already."""
    said = {"provider": provider, "model": answer.model_name or ""}
    if is_in_blocks or not any(_is_signed(part) for part in answer.parts):
        return said
    (response,) = ModelMessagesTypeAdapter.dump_python([answer], mode="json")
    return {**said, "response": response}


def _is_signed(part: ModelResponsePart) -> bool:
    return isinstance(part, ThinkingPart) or bool(getattr(part, "provider_details", None))


def _replayed(message: Message, provider: str) -> ModelResponse | None:
    """Return an answer as the provider gave it, unless blocks of it were taken away since."""
    if message.kept.get("provider") != provider or "response" not in message.kept:
        return None
    (answer,) = ModelMessagesTypeAdapter.validate_python([message.kept["response"]])
    assert isinstance(answer, ModelResponse)
    calls = [part.tool_call_id for part in answer.parts if isinstance(part, ToolCallPart)]
    said = "".join(part.content for part in answer.parts if isinstance(part, TextPart))
    is_whole = calls == [block["id"] for block in _calls(message.content)]
    return answer if is_whole and said == texts(message.content) else None


def _with_text(answer: ModelResponse) -> ModelResponse:
    if any(isinstance(part, TextPart) for part in answer.parts):
        return answer
    return replace(answer, parts=[TextPart(content=""), *answer.parts])


def _calls(content: Sequence[Block]) -> Iterator[Block]:
    return (block for block in content if block.get("type") == "tool_use")


def _said(content: Sequence[Block]) -> Iterator[ModelResponsePart]:
    for block in content:
        if block.get("type") == "text" and block["text"]:
            yield TextPart(content=block["text"])
        elif block.get("type") == "tool_use":
            yield ToolCallPart(block["name"], dict(block["input"]), tool_call_id=block["id"])


def _results(content: Sequence[Block], names: Mapping[str, str]) -> Iterator[ModelRequestPart]:
    for block in content:
        if block.get("type") != "tool_result":
            continue
        call = block["tool_use_id"]
        yield ToolReturnPart(
            tool_name=names.get(call, "unknown"),
            content=_returned(block.get("content", "")),
            tool_call_id=call,
            outcome="failed" if block.get("is_error") else "success",
        )


def _returned(content: str | Sequence[Block]) -> Any:
    """Return what a tool returned: a text, or a text and files."""
    if isinstance(content, str):
        return content
    items = [*map(_item, content)]
    text = "\n".join(each for each in items if isinstance(each, str))
    files = [each for each in items if not isinstance(each, str)]
    return [*([text] if text else []), *files] if files else text


def _prompts(content: Sequence[Block]) -> Iterator[ModelRequestPart]:
    items: list[UserContent] = [
        _item(block) for block in content if block.get("type") != "tool_result"
    ]
    if items:
        yield UserPromptPart(content=items)


def _item(block: Block) -> _Content:
    source = block.get("source", {})
    match block.get("type"), source.get("type"):
        case "text", _:
            return str(block["text"])
        case (("image" | "document"), "base64"):
            return BinaryContent(base64.b64decode(source["data"]), media_type=source["media_type"])
        case "image", "url":
            return ImageUrl(url=source["url"])
        case "document", "url":
            return DocumentUrl(url=source["url"])
        case "document", "text":
            return str(source["data"])
        case kind, _:
            return f"[{kind} left out: this model cannot be shown it]"
