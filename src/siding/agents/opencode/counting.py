"""The calls in the database of opencode. It is opened for reading only, and nothing waits for it.

A message of the assistant is a call; its `data` is JSON. Thoughts are counted beside the output and
cost the same, so they are added to it, unless the total says that they are a part of it.
"""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

import msgspec
from msgspec import Struct

from siding.agents.transcripts.counting import UNKNOWN_MODEL, Call, Counted, Counting, Tokens
from siding.agents.transcripts.heads import TOO_ODD

_MESSAGES = "SELECT id, session_id, data FROM message ORDER BY session_id, id"


class _Cache(Struct, gc=False):
    read: float | None = 0
    write: float | None = 0


class _Counts(Struct, gc=False):
    input: float | None = 0
    output: float | None = 0
    reasoning: float | None = 0
    total: float | None = None
    cache: _Cache | None = None


class _Time(Struct, gc=False):
    created: float | None = 0


class _Path(Struct, gc=False):
    cwd: str | None = ""


class _Message(Struct, rename={"model": "modelID", "provider": "providerID"}, gc=False):
    role: str = ""
    model: str | None = ""
    provider: str | None = ""
    tokens: _Counts | None = None
    time: _Time | None = None
    path: _Path | None = None
    cost: float | None = None


_DECODER = msgspec.json.Decoder(_Message)


def conversations(database: Path) -> list[Counted]:
    """Return the calls of each conversation. Raises `sqlite3.Error` if it cannot be read."""
    found: dict[str, Counted] = {}
    # `mode=ro` takes part in the locking of a database in use: what was written last is seen.
    from urllib.parse import quote  # 7 ms, which most counts do not need

    uri = f"file:{quote(str(database))}?mode=ro"
    with closing(sqlite3.connect(uri, uri=True, timeout=2)) as connection:
        for key, session, message in _messages(connection):
            counted = found.setdefault(session, Counted(session))
            if message.role == "user":
                counted.turn += 1
            elif message.role == "assistant" and message.tokens is not None:
                call = _call(key, counted.turn, message, message.tokens)
                if call.tokens.total:
                    counted.calls.append(call)
    return list(found.values())


def _messages(connection: sqlite3.Connection) -> Iterator[tuple[str, str, _Message]]:
    for key, session, data in connection.execute(_MESSAGES):
        try:
            yield str(key), str(session), _DECODER.decode(data)
        except (*TOO_ODD, TypeError):
            continue


def _call(key: str, turn: int, message: _Message, counts: _Counts) -> Call:
    cache = counts.cache or _Cache()
    sent, written, read = _whole(counts.input), _whole(cache.write), _whole(cache.read)
    output, reasoning = _whole(counts.output), _whole(counts.reasoning)
    is_part = counts.total is not None and _whole(counts.total) == sent + written + read + output
    return Call(
        key=key,
        at=_whole(message.time.created) if message.time is not None else 0,
        model=message.model or UNKNOWN_MODEL,
        provider=message.provider or "",
        cwd=(message.path.cwd or "") if message.path is not None else "",
        turn=turn,
        tokens=Tokens(
            input=sent,
            cache_read=read,
            cache_write_5m=written,
            output=output if is_part else output + reasoning,
            reasoning=reasoning,
            calls=1,
        ),
        cost=message.cost,
    )


def _whole(number: float | None) -> int:
    return max(0, int(number or 0))


def _others(env: Mapping[str, str], home: Path) -> Iterator[Path]:
    data = Path(env.get("XDG_DATA_HOME") or home / ".local" / "share")
    yield data / "opencode" / "opencode.db"


COUNTING = Counting(conversations=conversations, others=_others)
