"""The calls in a conversation of Gemini CLI: JSON lines, or one JSON document in older versions.

A message is written again when it has changed; it counts once. Thoughts are counted beside the
output and cost the same, so they are added to it. Cached tokens are a part of the input, unless the
total says that they are not.
"""

from pathlib import Path

import msgspec
from msgspec import Struct

from siding.agents.transcripts.counting import UNKNOWN_MODEL, Call, Counted, Counting, Tokens
from siding.agents.transcripts.heads import TOO_ODD
from siding.agents.transcripts.kinds import moment
from siding.ground.errors import SidingError
from siding.ground.files.regular import read_bytes

_PROVIDER = "google"


class _Counts(Struct, gc=False):
    input: int | None = 0
    output: int | None = 0
    cached: int | None = 0
    thoughts: int | None = 0
    tool: int | None = 0
    total: int | None = 0


class _Message(Struct, rename="camel", gc=False):
    id: str | None = ""
    type: str | None = ""
    timestamp: str | None = ""
    model: str | None = ""
    tokens: _Counts | None = None
    session_id: str | None = ""


class _Document(Struct, rename="camel", gc=False):
    session_id: str | None = ""
    messages: list[_Message] = []


_LINE = msgspec.json.Decoder(_Message)
_DOCUMENT = msgspec.json.Decoder(_Document)


def take(counted: Counted, raw: bytes) -> None:
    """Count one line."""
    beginning = raw[:512]
    if b'"tokens"' not in raw and b'"sessionId"' not in beginning and b'"user"' not in beginning:
        return
    try:
        message = _LINE.decode(raw)
    except TOO_ODD:
        return
    if message.session_id:
        counted.session = message.session_id
    if message.type == "user" and b'"functionResponse"' not in raw:
        counted.turn += 1
    _add(counted, message)


def take_document(counted: Counted, raw: bytes) -> None:
    """Count a conversation that is one document."""
    try:
        document = _DOCUMENT.decode(raw)
    except TOO_ODD:
        return
    counted.session = document.session_id or counted.session
    for message in document.messages:
        if message.type == "user":
            counted.turn += 1
        _add(counted, message)


def _add(counted: Counted, message: _Message) -> None:
    if message.type != "gemini" or message.tokens is None:
        return
    counted.add(
        Call(
            key=message.id or "",
            at=moment(message.timestamp) or 0,
            model=message.model or UNKNOWN_MODEL,
            provider=_PROVIDER,
            cwd=counted.cwd,
            turn=counted.turn,
            tokens=_tokens(message.tokens),
        )
    )


def _tokens(counts: _Counts) -> Tokens:
    sent, output, cached, thoughts, tool, total = (
        max(0, each or 0)
        for each in (
            counts.input,
            counts.output,
            counts.cached,
            counts.thoughts,
            counts.tool,
            counts.total,
        )
    )
    is_beside = cached > 0 and total == sent + cached + output + thoughts + tool
    return Tokens(
        input=(sent if is_beside else max(0, sent - cached)) + tool,
        cache_read=cached,
        output=output + thoughts,
        reasoning=thoughts,
        calls=1,
    )


def _root(path: Path) -> str:
    """Return the directory of a conversation: its lines do not name it."""
    for place in path.parents[1:4]:
        try:
            return read_bytes(place / ".project_root", limit=4096).decode().strip()
        except (OSError, SidingError, UnicodeDecodeError):
            continue
    return ""


def _checkout(path: Path) -> str:
    return path.parent.parent.name


COUNTING = Counting(take=take, take_document=take_document, root=_root, checkout=_checkout)
