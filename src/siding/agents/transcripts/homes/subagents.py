"""Find the transcripts of the subagents that an agent starts within one of its conversations.

Each client keeps them in another place. Nothing is written. What stands there may be anything.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
from msgspec import Struct

from siding.agents.transcripts.forms import Form
from siding.agents.transcripts.heads import TOO_ODD
from siding.ground.errors import NotARegularFile
from siding.ground.files.regular import open_regular

_HEAD = 1 << 20  # bytes of the first line of a rollout: it holds the instructions of the agent
_DAYS_DEPTH = 4  # of a rollout below the directory of all years


class _Source(Struct, gc=False):
    session_id: str | None = ""  # of the conversation that all of its subagents belong to
    id: str | None = ""
    thread_source: str | None = ""


class _Meta(Struct, gc=False):
    payload: _Source | None = None


_DECODER = msgspec.json.Decoder(_Meta)


def subagents_of(client: str, transcript: Path, session: str, since_ms: int) -> Iterator[Path]:
    """Yield the transcripts of the subagents of a conversation.

    Some that nothing was written to since a time may be left out.
    """
    find = _FINDERS.get(client)
    if find is None or session in ("", "..") or os.path.basename(session) != session:
        return
    yield from find(transcript, session, since_ms)


def _claude(transcript: Path, _session: str, _since_ms: int) -> Iterator[Path]:
    yield from (transcript.with_suffix("") / "subagents").glob("**/agent-*.jsonl")


def _gemini(transcript: Path, session: str, _since_ms: int) -> Iterator[Path]:
    """chats/<session>/<subagent>.jsonl, beside chats/session-<begin of it>.jsonl"""
    for suffix in ("*.jsonl", "*.json"):
        yield from (transcript.parent / session).glob(suffix)


def _codex(transcript: Path, session: str, since_ms: int) -> Iterator[Path]:
    """sessions/<year>/<month>/<day>/rollout-*.jsonl, in the day in which it was started"""
    if len(transcript.parents) < _DAYS_DEPTH:
        return
    root = transcript.parents[_DAYS_DEPTH - 1]
    # A subagent is no older than its conversation. Days are those of the place, hence the one more.
    day = datetime.fromtimestamp(since_ms / 1000, UTC) - timedelta(days=1)
    first = max(day.strftime("%Y/%m/%d"), transcript.parent.relative_to(root).as_posix())
    for place in root.glob("[0-9]*/[0-9]*/[0-9]*"):
        if place.relative_to(root).as_posix() < first:
            continue
        for path in place.glob("rollout-*.jsonl"):
            if path != transcript and _written_ms(path) >= since_ms and _is_subagent(path, session):
                yield path


def _written_ms(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns // 1_000_000
    except OSError:
        return -1


def _is_subagent(path: Path, session: str) -> bool:
    try:
        with open(open_regular(path), "rb") as file:
            meta = _DECODER.decode(file.readline(_HEAD)).payload
    except (OSError, NotARegularFile, *TOO_ODD):
        return False
    return meta is not None and (meta.session_id, meta.thread_source) == (session, "subagent")


_FINDERS: Mapping[str, Callable[[Path, str, int], Iterator[Path]]] = {
    Form.CLAUDE: _claude,
    Form.CODEX: _codex,
    Form.GEMINI: _gemini,
    "siding": _claude,
}
