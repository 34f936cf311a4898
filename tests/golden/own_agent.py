"""The transcript of Siding's own agent in words that are the same each time.

A conversation has ids, times and directories of its own; here they have names by the order in which
they come. What is left is the format: other programs read it.
"""

import json
import re
import uuid
from pathlib import Path
from typing import Any

GOLDEN = Path(__file__).with_name("own-agent.jsonl")
_ID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|(?<=_scripted_)[0-9a-f]{12}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
# What a request measures depends on the machine: the model is told about it.
_COUNT = re.compile(r'("(?:input_tokens|inputTokens)":)\d+')
_NAMED = re.compile(r"<id (\d+)>")


def named(transcript: str, workspace: Path, version: str) -> str:
    """Return the lines with names in the place of what differs each time."""
    names: dict[str, str] = {}
    text = _TIME.sub("<time>", transcript.replace(str(workspace), "<workspace>"))
    text = text.replace(f'"version":"{version}"', '"version":"<version>"')
    text = _COUNT.sub(r'\1"<count>"', text)
    return _ID.sub(lambda found: names.setdefault(found[0], f"<id {len(names) + 1}>"), text)


def filled_in(golden: str, workspace: Path) -> str:
    """Return a transcript that the agent could have written, of the names of a golden one."""
    whole = _NAMED.sub(lambda found: str(uuid.UUID(int=int(found[1]), version=4)), golden)
    minutes = iter(range(60))
    timed = re.sub("<time>", lambda _: f"2026-11-24T10:{next(minutes):02}:00.000Z", whole)
    timed = timed.replace('"<count>"', "100")
    return timed.replace("<workspace>", str(workspace)).replace("<version>", "0.1.0")


def session_of(transcript: str) -> str:
    """Return the id of the conversation."""
    first: dict[str, Any] = json.loads(transcript.splitlines()[0])
    return str(first["sessionId"])
