"""The library's events as ours. Pure: it is fed, and yields."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic_ai.messages import (
    ModelResponse,
    ModelResponsePart,
    PartDeltaEvent,
    PartEndEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
    ToolCallPart,
    ToolCallPartDelta,
)
from pydantic_ai.usage import RequestUsage

from siding.assistant.loop.messages import Block, Usage
from siding.assistant.loop.model import (
    BlockEnded,
    InputDelta,
    ModelEvent,
    StopReason,
    TextDelta,
    ThinkingDelta,
)

_Args = str | Mapping[str, Any] | None

_REASONS = {
    "stop": StopReason.END,
    "length": StopReason.MAX_OUTPUT,
    "content_filter": StopReason.REFUSED,
    "tool_call": StopReason.TOOLS,
}


class OutOfOrder(Exception):
    """Something came of a block that had ended."""


class Telling:
    """Tells one answer. A part that says nothing is no block.

    `keeps_signatures`: signed thoughts are blocks, though they may have no text.
    """

    def __init__(self, *, keeps_signatures: bool) -> None:
        self.keeps_signatures = keeps_signatures
        self._places: dict[int, int] = {}  # of our blocks, by the part's index
        self._ended: set[int] = set()  # indexes of parts
        self._calls: dict[int, tuple[str, str]] = {}
        self.blocks: list[Block] = []

    def tell(self, event: object) -> Iterator[ModelEvent]:
        """Yield what one event of the library means. Raises OutOfOrder."""
        match event:
            case PartStartEvent(index=index, part=part):
                yield from self._begin(index, part)
            case PartDeltaEvent(index=index, delta=TextPartDelta(content_delta=text)):
                yield from self._text(index, text)
            case PartDeltaEvent(index=index, delta=ThinkingPartDelta(content_delta=text)):
                yield from self._thought(index, text or "")
            case PartDeltaEvent(index=index, delta=ToolCallPartDelta() as delta):
                yield from self._input(index, delta.args_delta)
            case PartEndEvent(index=index, part=part):
                yield from self._end(index, part)
            case _:  # what only the library's own agent needs
                return

    def tell_all(self, answer: ModelResponse) -> Iterator[ModelEvent]:
        """Yield the same for an answer that came as a whole."""
        for index, part in enumerate(answer.parts):
            yield from self._begin(index, part)
            yield from self._end(index, part)

    def _begin(self, index: int, part: ModelResponsePart) -> Iterator[ModelEvent]:
        match part:
            case TextPart(content=text):
                yield from self._text(index, text)
            case ThinkingPart(content=text):
                yield from self._thought(index, text)
            case ToolCallPart():
                self._calls[index] = (part.tool_call_id, part.tool_name)
                self._place(index)
                yield from self._input(index, part.args)
            case _:  # what the provider's own tools did
                return

    def _text(self, index: int, text: str) -> Iterator[ModelEvent]:
        if text:
            yield TextDelta(self._place(index), text)

    def _thought(self, index: int, text: str) -> Iterator[ModelEvent]:
        if text:  # a signature may come late
            yield ThinkingDelta(self._place(index), text)

    def _input(self, index: int, args: _Args) -> Iterator[ModelEvent]:
        if args:
            text = args if isinstance(args, str) else json.dumps(args)
            call_id, name = self._calls[index]
            yield InputDelta(self._place(index), call_id, name, text)

    def _place(self, index: int) -> int:
        if index in self._ended:
            raise OutOfOrder
        return self._places.setdefault(index, len(self._places))

    def _end(self, index: int, part: ModelResponsePart) -> Iterator[ModelEvent]:
        block = self._block(part)
        if block is not None:
            at = self._place(index)
            self._ended.add(index)
            self.blocks.append(block)
            yield BlockEnded(at, block)

    def _block(self, part: ModelResponsePart) -> Block | None:
        match part:
            case TextPart(content=text) if text:
                return {"type": "text", "text": text}
            case ThinkingPart(id="redacted_thinking") if self.keeps_signatures:
                return {"type": "redacted_thinking", "data": part.signature or ""}
            case ThinkingPart() if part.content or (self.keeps_signatures and part.signature):
                signature = (part.signature or "") if self.keeps_signatures else ""
                return {"type": "thinking", "thinking": part.content, "signature": signature}
            case ToolCallPart():
                call = {"id": part.tool_call_id, "name": part.tool_name}
                return {"type": "tool_use", **call, "input": _object(part.args)}
            case _:
                return None

    def reason(self, answer: ModelResponse) -> StopReason | None:
        """Return why the answer ended; None if its end never came."""
        said = (answer.provider_details or {}).get("finish_reason")
        if isinstance(said, str) and said in set(StopReason):
            return StopReason(said)  # Anthropic's own words
        if answer.state == "incomplete" or answer.finish_reason is None:
            return None
        has_calls = any(block["type"] == "tool_use" for block in self.blocks)
        reason = _REASONS.get(answer.finish_reason, StopReason.REFUSED)
        # Gemini has no word of its own for an answer that calls tools.
        return StopReason.TOOLS if reason is StopReason.END and has_calls else reason


def _object(args: _Args) -> dict[str, Any]:
    """Return the input of a call; what is no JSON object under ``_invalid``."""
    if not args:
        return {}
    if not isinstance(args, str):
        return dict(args)
    try:
        found = json.loads(args)
    except ValueError:
        return {"_invalid": args}
    return found if isinstance(found, dict) else {"_invalid": args}


def usage_of(said: RequestUsage) -> Usage:
    """Return tokens in our meaning. The library counts what a cache held as input, too."""
    cached = said.cache_read_tokens + said.cache_write_tokens
    return Usage(
        input=max(0, said.input_tokens - cached),
        output=said.output_tokens,
        cache_read=said.cache_read_tokens,
        cache_write=said.cache_write_tokens,
    )
