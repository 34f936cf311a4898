"""Where the Codex CLI keeps its transcripts."""

import os
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
from msgspec import Struct

from siding.agents.transcripts.heads import TOO_ODD
from siding.agents.transcripts.homes import ClientHome, FoundTranscript, Walk
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


def _root(environ: Mapping[str, str], home: Path) -> Path:
    named = environ.get("CODEX_HOME")
    return Path(named) if named else home / ".codex"


def _walk(walk: Walk, root: str) -> Iterator[FoundTranscript]:
    """sessions/<year>/<month>/<day>/rollout-*.jsonl, and archived_sessions/rollout-*.jsonl"""
    yield from _rollouts(walk, os.path.join(root, "sessions"), depth=3)
    yield from _rollouts(walk, os.path.join(root, "archived_sessions"), depth=3)


def _rollouts(walk: Walk, place: str, depth: int) -> Iterator[FoundTranscript]:
    for entry in walk.entries(place):
        if entry.name.startswith("rollout-") and entry.name.endswith(".jsonl"):
            yield from walk.transcript(entry)
        elif depth > 0 and entry.is_dir(follow_symlinks=False):
            yield from _rollouts(walk, entry.path, depth - 1)


def _subagents(transcript: Path, session: str, since_ms: int) -> Iterator[Path]:
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


def _place(root: Path, _cwd: str, now: datetime, _beside: Callable[[], Path | None]) -> Path | None:
    return root / "sessions" / now.strftime("%Y/%m/%d")


HOME = ClientHome(root=_root, walk=_walk, subagents=_subagents, place=_place)
