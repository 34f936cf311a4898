"""The story of a conversation, read where it lies: `siding chat show --json` prints its lines.

A test that waits for something looks many times a second; a command each time would cost more than
what it waits for. That the command prints these lines is tested.
"""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sandbox import Sandbox

PATIENCE_S = 90.0


class Told:
    """The newest conversation of a sandbox, as its story tells it."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox

    @property
    def story(self) -> list[dict[str, Any]]:
        return story_in(self.sandbox.project)

    @property
    def row(self) -> dict[str, Any]:
        """What `siding chat list` says of it."""
        found: list[dict[str, Any]] = self.sandbox.json("chat", "list", "--json")
        return found[-1]

    def events(self, *names: str) -> list[dict[str, Any]]:
        return [line for line in self.story if line["event"] in names]

    def text(self) -> str:
        return "".join(line["text"] for line in self.events("text"))

    def until(self, holds: Callable[[], object]) -> None:
        end = time.monotonic() + PATIENCE_S
        while not holds():
            assert time.monotonic() < end, json.dumps(self.story, indent=1)[-3000:]
            time.sleep(0.05)

    def turns(self, number: int) -> None:
        self.until(lambda: len(self.events("turn-ended")) >= number)

    def recorded(self, number: int) -> None:
        """Wait until so many turns are steps: what is asked of the ledger needs that."""
        self.until(lambda: len(self.events("recorded")) >= number)


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
