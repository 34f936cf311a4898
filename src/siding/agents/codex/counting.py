"""The calls in a rollout file of Codex.

A `token_count` carries the running total of the whole thread, and is written again with the same
total when only a limit has changed. So a call is what the total grew by. Where there is no total
before, or it began anew, it is the `last_token_usage`: a fork's total begins with its parent's.
Cached tokens are a part of its input, thoughts a part of its output.
"""

import msgspec
from msgspec import Struct

from siding.agents.transcripts.counting import UNKNOWN_MODEL, Call, Counted, Counting, Tokens
from siding.agents.transcripts.heads import TOO_ODD
from siding.agents.transcripts.kinds import moment

_PROVIDER = "openai"


class _Use(Struct, gc=False):
    input_tokens: int = 0
    cached_input_tokens: int | None = 0
    cache_write_input_tokens: int | None = 0
    output_tokens: int = 0
    reasoning_output_tokens: int | None = 0

    def counts(self) -> tuple[int, ...]:
        found = (
            self.input_tokens,
            self.cached_input_tokens,
            self.cache_write_input_tokens,
            self.output_tokens,
            self.reasoning_output_tokens,
        )
        return tuple(max(0, each or 0) for each in found)


class _Info(Struct, gc=False):
    total_token_usage: _Use | None = None
    last_token_usage: _Use | None = None


class _Payload(Struct, gc=False):
    type: str | None = ""
    id: str | None = ""
    cwd: str | None = ""
    model: str | None = ""
    model_provider: str | None = ""
    forked_from_id: str | None = ""
    info: _Info | None = None


class _Line(Struct, gc=False):
    type: str = ""
    timestamp: str | None = ""
    payload: _Payload | None = None


_DECODER = msgspec.json.Decoder(_Line)
_NEEDED = (b'"token_count"', b'"turn_context"', b'"session_meta"', b'"task_started"')


def take(counted: Counted, raw: bytes) -> None:
    """Count one line."""
    beginning = raw[:2048]
    if not any(each in beginning for each in _NEEDED):
        return
    try:
        line = _DECODER.decode(raw)
    except TOO_ODD:
        return
    payload = line.payload
    if payload is None:
        return
    if line.type == "session_meta":
        _begin(counted, line, payload)
    elif line.type == "turn_context":
        counted.model = payload.model or counted.model
        counted.cwd = payload.cwd or counted.cwd
    elif line.type == "event_msg" and payload.type == "task_started":
        counted.turn += 1
    elif line.type == "event_msg" and payload.type == "token_count" and payload.info is not None:
        _count(counted, line, payload.info)


def _begin(counted: Counted, line: _Line, meta: _Payload) -> None:
    if counted.began:
        return  # that of the conversation which it was forked from
    counted.began = moment(line.timestamp) or 1
    counted.session = meta.id or counted.session
    counted.parent = meta.forked_from_id or ""
    counted.cwd = meta.cwd or ""
    counted.provider = meta.model_provider or _PROVIDER


def _count(counted: Counted, line: _Line, info: _Info) -> None:
    total = info.total_token_usage.counts() if info.total_token_usage is not None else None
    last = info.last_token_usage.counts() if info.last_token_usage is not None else None
    before = counted.total
    if total is None:
        share = last or ()
    elif before is None or any(now < then for now, then in zip(total, before, strict=True)):
        share = last or total
    else:
        share = tuple(now - then for now, then in zip(total, before, strict=True))
    if total is not None:
        counted.total = total
    if not any(share):
        return
    sent, cached, written, output, reasoning = share
    at = moment(line.timestamp) or 0
    counted.calls.append(
        Call(
            key="/".join(map(str, total)) if total is not None else "",
            at=at,
            model=counted.model or UNKNOWN_MODEL,
            provider=counted.provider or _PROVIDER,
            cwd=counted.cwd,
            turn=counted.turn,
            tokens=Tokens(
                input=max(0, sent - cached - written),
                cache_read=min(cached, sent),
                cache_write_5m=written,
                output=output,
                reasoning=min(reasoning, output),
                calls=1,
            ),
        )
    )


COUNTING = Counting(take=take, repeats_parent=True)
