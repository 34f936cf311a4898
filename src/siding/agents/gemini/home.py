"""Where the Gemini CLI keeps its transcripts."""

import os
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path

from siding.agents.transcripts.homes import ClientHome, FoundTranscript, Walk


def _root(environ: Mapping[str, str], home: Path) -> Path:
    named = environ.get("GEMINI_CLI_HOME")
    return (Path(named) if named else home) / ".gemini"


def _walk(walk: Walk, root: str) -> Iterator[FoundTranscript]:
    """tmp/<project>/chats/session-*.json(l), and <session>/<agent>.jsonl of subagents beside it"""
    for project in walk.directories(os.path.join(root, "tmp")):
        for entry in walk.entries(os.path.join(project, "chats")):
            if entry.name.startswith("session-") and entry.name.endswith((".jsonl", ".json")):
                yield from walk.transcript(entry)
            elif entry.is_dir(follow_symlinks=False):
                for agent in walk.entries(entry.path):
                    if agent.name.endswith((".jsonl", ".json")):
                        yield from walk.transcript(agent, is_subagent=True)


def _subagents(transcript: Path, session: str, _since_ms: int) -> Iterator[Path]:
    """chats/<session>/<subagent>.jsonl, beside chats/session-<begin of it>.jsonl"""
    for suffix in ("*.jsonl", "*.json"):
        yield from (transcript.parent / session).glob(suffix)


def _place(
    _root: Path, _cwd: str, _now: datetime, beside: Callable[[], Path | None]
) -> Path | None:
    return beside()


HOME = ClientHome(root=_root, walk=_walk, subagents=_subagents, place=_place)
