"""The story of a conversation, read where it lies: `siding chat show --json` prints its lines.

A test that waits for something looks many times a second; a command each time would cost more than
what it waits for. That the command prints these lines is tested.
"""

import json
from pathlib import Path
from typing import Any


def story_in(project: Path) -> list[dict[str, Any]]:
    """Return the newest conversation of a project, in whichever task; [] if there is none."""
    found = sorted(project.glob("tasks/*/chats/*/story.jsonl"), key=_begun_at)
    if not found:
        return []
    lines = found[-1].read_bytes().splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith(b"\n")]


def _begun_at(path: Path) -> tuple[str, int]:
    with path.open("rb") as story:
        began = json.loads(story.readline() or b"{}")
    return str(began.get("at", "")), int(path.parent.name[1:])
