"""Where Parrot keeps its transcripts: ``sessions/<id>.jsonl``."""

import os
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path

from siding.agents.transcripts.homes import ClientHome, FoundTranscript, Walk


def _root(environ: Mapping[str, str], home: Path) -> Path:
    return Path(environ["PARROT_HOME"]) if environ.get("PARROT_HOME") else home / ".parrot"


def _walk(walk: Walk, root: str) -> Iterator[FoundTranscript]:
    for entry in walk.entries(os.path.join(root, "sessions")):
        if entry.name.endswith(".jsonl"):
            yield from walk.transcript(entry)


def _subagents(_transcript: Path, _session: str, _since_ms: int) -> Iterator[Path]:
    return iter(())


def _place(
    root: Path, _cwd: str, _now: datetime, _beside: Callable[[], Path | None]
) -> Path | None:
    return root / "sessions"


HOME = ClientHome(root=_root, walk=_walk, subagents=_subagents, place=_place)
