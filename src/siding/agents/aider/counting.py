"""The calls in an analytics log of aider (``--analytics-log``): an event a line.

It names no conversation and no directory: a start of aider is a conversation. Its tokens are not
told apart by caches, and its chat history only has rounded ones, which are not counted.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from siding.agents.transcripts.counting import UNKNOWN_MODEL, Call, Counted, Counting, Tokens
from siding.agents.transcripts.heads import TOO_ODD


class _Properties(Struct, gc=False):
    main_model: str | None = ""
    prompt_tokens: int | None = 0
    completion_tokens: int | None = 0
    cost: float | None = None


class _Event(Struct, gc=False):
    event: str = ""
    time: float = 0
    properties: _Properties | None = None


_DECODER = msgspec.json.Decoder(_Event)


def take(counted: Counted, raw: bytes) -> None:
    """Count one line."""
    try:
        event = _DECODER.decode(raw)
    except TOO_ODD:
        return
    if event.event == "message_send_starting":
        counted.turn += 1
    if event.event != "message_send" or event.properties is None:
        return
    said = event.properties
    provider, _, model = (said.main_model or "").rpartition("/")
    counted.calls.append(
        Call(
            key="",
            at=int(event.time * 1000),
            model=model or UNKNOWN_MODEL,
            provider=provider,
            cwd="",
            turn=counted.turn,
            tokens=Tokens(
                input=max(0, said.prompt_tokens or 0),
                output=max(0, said.completion_tokens or 0),
                calls=1,
            ),
            cost=said.cost,
        )
    )


def _others(env: Mapping[str, str], _home: Path) -> Iterator[Path]:
    """Yield the log that a variable names."""
    log = env.get("AIDER_ANALYTICS_LOG")
    if log:
        yield Path(log)


COUNTING = Counting(take=take, others=_others)
