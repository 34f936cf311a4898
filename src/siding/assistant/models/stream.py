"""The library's events and exceptions as ours. Pure: it is fed, and yields."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic_ai.exceptions import (
    ContentFilterError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelOverloadedError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestRejectedError,
    ModelServerError,
    ModelUnavailableError,
    UnexpectedModelBehavior,
    UserError,
)
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

from siding.agents.own.providers import Provider
from siding.assistant.loop.model import (
    Block,
    BlockEnded,
    InputDelta,
    ModelError,
    ModelEvent,
    StopReason,
    TextDelta,
    ThinkingDelta,
    Trouble,
    Usage,
)

_Args = str | Mapping[str, Any] | None
_REASONS = {
    "stop": StopReason.END,
    "length": StopReason.MAX_OUTPUT,
    "content_filter": StopReason.REFUSED,
    "tool_call": StopReason.TOOLS,
}
_KINDS: tuple[tuple[type[Exception], Trouble], ...] = (  # the first that fits
    (ModelContextWindowExceededError, Trouble.TOO_LONG),
    (ModelQuotaExceededError, Trouble.CREDIT),
    (ModelRateLimitError, Trouble.RATE),
    (ModelOverloadedError, Trouble.OVERLOADED),
    (ModelUnavailableError, Trouble.OVERLOADED),
    (ModelServerError, Trouble.SERVER),
    (ModelAuthenticationError, Trouble.LOGIN),
    (ModelRequestRejectedError, Trouble.REQUEST),
    (ModelConnectionError, Trouble.CONNECTION),
    (ContentFilterError, Trouble.REQUEST),
    (UserError, Trouble.REQUEST),
)
_STATUSES = {408: Trouble.SERVER, 409: Trouble.SERVER, 413: Trouble.TOO_LONG}
# Where the library knows no kind, or a server says it in other words.
_WORDS: tuple[tuple[re.Pattern[str], Trouble], ...] = (
    (
        re.compile(
            r"(?:prompt|input|request|context)[^.]{0,40} (?:is )?(?:too long|too large)"
            r"|maximum context length|context (?:length|window|size)[^.]{0,40}exceed"
            r"|exceed[^.]{0,60}context (?:length|window|size)|request_too_large"
            r"|input token count[^.]{0,80}exceeds|input length and `max_tokens` exceed",
            re.IGNORECASE,
        ),
        Trouble.TOO_LONG,
    ),
    (
        re.compile(
            r"credit balance|insufficient[_ ](?:quota|balance|credit)|billing[_ ]|spend limit"
            r"|exceeded your current quota, please check your plan",
            re.IGNORECASE,
        ),
        Trouble.CREDIT,
    ),
    (re.compile(r"overloaded|over capacity", re.IGNORECASE), Trouble.OVERLOADED),
)
_AGREES = {
    Trouble.TOO_LONG: {Trouble.REQUEST, Trouble.TOO_LONG, None},
    Trouble.CREDIT: {Trouble.REQUEST, Trouble.RATE, Trouble.CREDIT, Trouble.LOGIN, None},
    Trouble.OVERLOADED: {Trouble.SERVER, Trouble.RATE, Trouble.OVERLOADED, None},
}


# -- The library's events --------------------------------------------------------------------------


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


# -- The library's exceptions, by kind -------------------------------------------------------------


def failure(error: Exception, row: Provider, *, has_begun: bool) -> ModelError:
    """Return what an exception of a request means."""
    # A server that cannot stream an answer (some local ones, with tools) ends it before it begins.
    has_begun = has_begun or isinstance(error, UnexpectedModelBehavior)
    status = error.status_code if isinstance(error, ModelHTTPError) else None
    trouble = _trouble(error, status)
    body = getattr(error, "body", None)
    return ModelError(
        trouble,
        _message(error, body, status),
        status=status,
        after_s=getattr(error, "retry_after", None),
        has_begun=has_begun,
        hint=_hint(trouble, row),
    )


def _trouble(error: Exception, status: int | None) -> Trouble:
    found = _STATUSES.get(status or 0) or next(
        (trouble for kind, trouble in _KINDS if isinstance(error, kind)), None
    )
    if isinstance(error, ModelAPIError) and found is not Trouble.CONNECTION:
        said = f"{error.body or ''} {error}"
        for words, trouble in _WORDS:
            if found in _AGREES[trouble] and words.search(said):
                return trouble
    if found is not None:
        return found
    return Trouble.SERVER if (status or 0) >= 500 else Trouble.CONNECTION


def _message(error: Exception, body: object, status: int | None) -> str:
    said = _said(body) or getattr(error, "message", "") or str(error) or type(error).__name__
    shown = " ".join(str(said).split())[:500]
    return f"{shown} (status {status})" if status else shown


def _said(body: Any) -> str:
    """Return the sentence in a body: providers have it in ``error.message`` or ``message``."""
    while isinstance(body, list) and body:  # Gemini's, sometimes
        body = body[0]
    if not isinstance(body, dict):
        return ""
    inner = body.get("error")
    if isinstance(inner, dict) and isinstance(inner.get("message"), str):
        return str(inner["message"])
    return next((str(body[key]) for key in ("message", "error", "detail") if body.get(key)), "")


def _hint(trouble: Trouble, row: Provider) -> str:
    if trouble is Trouble.LOGIN and row.variables:
        return f"check the key in {' or '.join(row.variables)}"
    if trouble is Trouble.CREDIT:
        return f"add credit to the account at {row.prefix}, or ask another model"
    if trouble is Trouble.CONNECTION and row.prefix == "local":
        return f"is the server up? {row.url} says where it is; {row.default_url} if not set"
    return ""
