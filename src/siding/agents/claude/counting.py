"""The calls in a transcript of Claude Code.

An answer of several blocks is several lines with the same usage, so a call goes by the message's id
and the request's. `cost-state` lines carry the client's running total by model: it includes calls
that are in no line, such as compactions and titles.
"""

from typing import Any

import msgspec
from msgspec import Struct

from siding.agents.transcripts.counting import UNKNOWN_MODEL, Call, Counted, Counting, Tokens
from siding.agents.transcripts.heads import TOO_ODD
from siding.agents.transcripts.kinds import moment

_SYNTHETIC = "<synthetic>"
_PROVIDER = "anthropic"


class _Written(Struct, gc=False):
    ephemeral_5m_input_tokens: int | None = 0
    ephemeral_1h_input_tokens: int | None = 0


class _Usage(Struct, gc=False):
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_input_tokens: int | None = 0
    cache_creation_input_tokens: int | None = 0
    cache_creation: _Written | None = None


class _Answer(Struct, gc=False):
    id: str | None = None
    model: str | None = None
    usage: _Usage | None = None


class _ModelUse(Struct, rename="camel", gc=False):
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_input_tokens: int = 0
    cache_creation_input_tokens: int = 0


class _Line(Struct, rename="camel", gc=False):
    type: str = ""
    message: _Answer | None = None
    request_id: str | None = None
    timestamp: str | None = ""
    cwd: str | None = ""
    session_id: str | None = ""
    forked_from: Any = None
    model_usage: dict[str, _ModelUse] | None = None


_DECODER = msgspec.json.Decoder(_Line)
_NOT_A_PROMPT = (b'"tool_result"', b'"isMeta":true', b'"isCompactSummary":true')


def take(counted: Counted, raw: bytes) -> None:
    """Count one line."""
    if b'"usage"' not in raw and b'"modelUsage"' not in raw:
        if b'"type":"user"' in raw and not any(each in raw for each in _NOT_A_PROMPT):
            counted.turn += 1
        return
    try:
        line = _DECODER.decode(raw)
    except TOO_ODD:
        return  # a damaged line; `siding session doctor` reports it
    if line.model_usage is not None:
        counted.stated = {name: _stated(use) for name, use in line.model_usage.items()}
    elif line.type == "assistant" and line.message is not None and line.message.usage is not None:
        _add(counted, line, line.message, line.message.usage)


def _add(counted: Counted, line: _Line, answer: _Answer, usage: _Usage) -> None:
    if answer.model == _SYNTHETIC:
        return  # what the client itself said
    if not counted.calls and line.session_id:
        counted.session = counted.session or line.session_id
    counted.add(
        Call(
            key=f"{answer.id}|{line.request_id or ''}" if answer.id else "",
            at=moment(line.timestamp) or 0,
            model=answer.model or UNKNOWN_MODEL,
            provider=_PROVIDER,
            cwd=line.cwd or "",
            turn=counted.turn,
            tokens=_tokens(usage),
            is_copy=line.forked_from is not None,
        )
    )


def _tokens(usage: _Usage) -> Tokens:
    written = max(0, usage.cache_creation_input_tokens or 0)
    hour = 0
    if usage.cache_creation is not None:
        hour = max(0, usage.cache_creation.ephemeral_1h_input_tokens or 0)
        written = max(written, hour + max(0, usage.cache_creation.ephemeral_5m_input_tokens or 0))
    return Tokens(
        input=max(0, usage.input_tokens),
        cache_read=max(0, usage.cache_read_input_tokens or 0),
        cache_write_5m=written - hour,
        cache_write_1h=hour,
        output=max(0, usage.output_tokens),
        calls=1,
    )


def _stated(use: _ModelUse) -> Tokens:
    return Tokens(
        input=max(0, use.input_tokens),
        cache_read=max(0, use.cache_read_input_tokens),
        cache_write_5m=max(0, use.cache_creation_input_tokens),
        output=max(0, use.output_tokens),
    )


COUNTING = Counting(take=take)
