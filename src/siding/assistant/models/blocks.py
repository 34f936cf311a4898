"""The blocks of a conversation as each wire has them. Pure."""

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

from siding.assistant.loop.messages import Block, Message
from siding.assistant.loop.model import Cache, Request
from siding.assistant.models.request_settings import mark_last, mark_messages

# -- What Anthropic's Messages API is sent: the blocks as they are. Pure ---------------------------
#
# The library would take blocks apart and put them together again. Signatures hold only for thoughts
# that come back as they were, so the blocks go around it, into the body.


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


# -- Blocks as the library's messages, for all wires but Anthropic's. Pure -------------------------


# Servers on one's own machine may refuse an answer of calls alone, whose text would be null.
_WANT_TEXT = frozenset({"local"})
_Content = str | BinaryContent | ImageUrl | DocumentUrl


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
