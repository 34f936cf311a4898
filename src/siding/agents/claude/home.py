"""Where Claude Code keeps its transcripts."""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path

from siding.agents.transcripts.homes import ClientHome, FoundTranscript, Walk

_LONGEST_NAME = 200  # of a directory: longer ones it cuts and gives a hash
_AGENTS_DEPTH = 3  # directories below subagents/, such as those of workflows


def _root(environ: Mapping[str, str], home: Path) -> Path:
    named = environ.get("CLAUDE_CONFIG_DIR")
    return Path(named) if named else home / ".claude"


def _walk(walk: Walk, root: str) -> Iterator[FoundTranscript]:
    """projects/<directory>/<session>.jsonl, and <session>/subagents/**/agent-<id>.jsonl"""
    for project in walk.directories(os.path.join(root, "projects")):
        for entry in walk.entries(project):
            if entry.name.endswith(".jsonl"):
                yield from walk.transcript(entry, is_subagent=entry.name.startswith("agent-"))
            elif entry.is_dir(follow_symlinks=False):
                yield from _agents(walk, os.path.join(entry.path, "subagents"))


def _agents(walk: Walk, place: str, depth: int = 0) -> Iterator[FoundTranscript]:
    for entry in walk.entries(place):
        if entry.is_dir(follow_symlinks=False):
            if depth < _AGENTS_DEPTH:
                yield from _agents(walk, entry.path, depth + 1)
        elif entry.name.startswith("agent-") and entry.name.endswith(".jsonl"):
            yield from walk.transcript(entry, is_subagent=True)


def _subagents(transcript: Path, _session: str, _since_ms: int) -> Iterator[Path]:
    yield from (transcript.with_suffix("") / "subagents").glob("**/agent-*.jsonl")


def _place(root: Path, cwd: str, _now: datetime, beside: Callable[[], Path | None]) -> Path | None:
    known = beside()
    if known is not None:
        return known
    name = re.sub(r"[^0-9A-Za-z]", "-", cwd)
    return root / "projects" / name if cwd and len(name) <= _LONGEST_NAME else None


HOME = ClientHome(root=_root, walk=_walk, subagents=_subagents, place=_place)
