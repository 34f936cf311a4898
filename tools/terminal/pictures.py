"""Pictures of the terminal for the pages: the screen itself, with a given feed and clock."""

import asyncio
import re
import tempfile
from collections.abc import Collection, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event
from typing import NamedTuple

from siding.faces.tui.app import SidingApp
from siding.faces.tui.places.home.place import HomePlace
from siding.feed.model import Change, Feed, Row, RowKind, State
from siding.record.place.wiring import open_app

_NOW = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)
_SIZE = (100, 26)
_FONT_FACE = re.compile(r"@font-face\s*\{.*?\}", re.DOTALL)
_LINK = re.compile(r"<!--.*?-->", re.DOTALL)


class _Task(NamedTuple):
    state: State
    project: str
    name: str
    what: str
    agent: str
    minutes: int  # since it is in this state
    added: int
    removed: int


_ROWS = (
    _Task(State.WAITS, "flask", "rate limits", "keep the old signature?", "claude", 2, 26, 2),
    _Task(State.WAITS, "shop", "pay by card", "permission: rm -rf build/", "codex", 4, 310, 9),
    _Task(State.BROKE, "infra", "musl build", "exit 1: npm test", "gemini", 12, 585, 0),
    _Task(State.READY, "flask", "type hints", "tests pass", "claude", 20, 11, 3),
    _Task(State.READY, "shop", "cart total", "tests pass", "codex", 65, 64, 12),
    _Task(State.RUNS, "flask", "async views", "pytest tests/test_views.py", "claude", 31, 126, 10),
    _Task(State.RUNS, "infra", "newer terraform", "planning", "siding", 1, 0, 0),
    _Task(State.RESTS, "shop", "faster search", "", "", 300, 0, 0),
)


def drawn() -> dict[str, str]:
    """Return the pictures by their names."""
    return asyncio.run(_drawn())


async def _drawn() -> dict[str, str]:
    with tempfile.TemporaryDirectory() as directory:
        home = Path(directory)
        siding = open_app(env={"SIDING_HOME": str(home / "home")}, cwd=home)
        place = HomePlace(now_s=_NOW.timestamp)
        app = SidingApp(siding, begin=lambda: place, source=_Given)
        async with app.run_test(size=_SIZE) as pilot:
            while not app.feed.rows:
                await asyncio.sleep(0.01)
            await pilot.pause()
            pictures = {"terminal-home.svg": _clean(app.export_screenshot(title="siding"))}
            await pilot.press("?")
            pictures["terminal-keys.svg"] = _clean(app.export_screenshot(title="siding"))
    return pictures


def _clean(svg: str) -> str:
    """Leave out what a browser would fetch from elsewhere."""
    return _LINK.sub("", _FONT_FACE.sub("", svg))


class _Given:
    """A feed that does not change."""

    def __init__(self) -> None:
        self._closed = Event()

    def items(self) -> Iterator[Feed | Change]:
        rows = tuple(_row(number, each) for number, each in enumerate(_ROWS))
        yield Feed(epoch=1, seq=1, rows=rows, asks=(), problems=(), projects=3)
        self._closed.wait()

    def show(self, addresses: Collection[str], *, focused: bool | None) -> None:
        """Nobody is told."""

    def close(self) -> None:
        self._closed.set()


def _row(number: int, task: _Task) -> Row:
    return Row(
        key=f"{task.project}/{number}",
        kind=RowKind.TASK,
        state=task.state,
        project=task.project,
        project_name=task.project,
        id=str(number),
        name=task.name,
        what=task.what,
        since=(_NOW - timedelta(minutes=task.minutes)).isoformat(),
        address=f"siding://{task.project}/{number}",
        agent=task.agent,
        files=2 if task.added else 0,
        additions=task.added,
        deletions=task.removed,
    )
