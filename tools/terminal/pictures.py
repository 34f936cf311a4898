"""Pictures of the terminal for the pages: the screen itself, with a given feed and clock."""

import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event
from typing import NamedTuple

from textual.pilot import Pilot

from siding.faces.tui.app import SidingApp
from siding.faces.tui.places.home.place import HomePlace
from siding.faces.tui.places.task.place import TaskPlace
from siding.feed.addresses import parsed
from siding.feed.fold import feed_of
from siding.feed.model import Change, Feed, Row, RowKind, State
from siding.record.place.wiring import App, open_app

_NOW = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)
_SIZE = (100, 26)
_BEFORE = """def limit(request, rate):
    \"\"\"Refuse a client that asks too often.\"\"\"
    if too_many(request.client, rate):
        raise Refused
"""
_AFTER = """def limit(request, rate, *, burst=0):
    \"\"\"Refuse a client that asks too often; `burst` more at once are let in.\"\"\"
    if too_many(request.client, rate, burst):
        raise Refused(retry_after=rate.period)
"""
_TEST = """def test_a_burst_is_let_in(client):
    assert [client.get("/").status for _ in range(3)] == [200, 200, 429]
"""
_CHANGE = {"limits.py": _AFTER, "test_limits.py": _TEST}
_QUESTION = {
    "task": "limit() has 14 callers, all of them by position",
    "source": "limits.py",
    "items": [
        {
            "id": 1,
            "title": "Keep the old signature of limit()?",
            "kind": "single",
            "options": [
                {
                    "value": "keep",
                    "label": "keep it and add a keyword",
                    "pros": ["no caller changes"],
                    "cons": ["two ways to say it"],
                    "recommended": True,
                },
                {"value": "change", "label": "change all callers", "cons": ["14 files"]},
            ],
        }
    ],
}
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
    with tempfile.TemporaryDirectory() as directory:
        acted = _acted(Path(directory))
        return {**asyncio.run(_drawn()), **asyncio.run(_of_acts(acted))}


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


def _acted(directory: Path) -> App:
    """Carry out real acts in a repository: a change, and a question that waits."""
    repository = directory / "shop"
    repository.mkdir()
    env = {**os.environ, "SIDING_HOME": str(directory / "home"), "HOME": str(directory)}
    env["PATH"] = f"{directory}:{env['PATH']}"
    (repository / "limits.py").write_text(_BEFORE)

    def run(*words: str) -> None:
        subprocess.run(words, cwd=repository, env=env, check=True, capture_output=True)

    run("git", "init", "-q", "-b", "main")
    run("git", "add", ".")
    named = ("-c", "user.name=you", "-c", "user.email=you@example.com")
    run("git", *named, "commit", "-q", "-m", "first")
    siding = (sys.executable, "-m", "siding", "-q")
    files = "".join(f"cat >{name} <<'end'\n{text}end\n" for name, text in _CHANGE.items())
    agent = directory / "agent"
    agent.write_text(f"#!/bin/sh\n{files}")
    agent.chmod(0o755)
    run(*siding, "run", "--new", "rate limits", "--", "agent", "let a burst in")
    run(*siding, "decide", json.dumps(_QUESTION), "--no-wait")
    return open_app(env=env, cwd=repository)


async def _of_acts(siding: App) -> dict[str, str]:
    feed = feed_of(siding)
    task = next(row for row in feed.rows if row.kind is RowKind.TASK)
    pictures = {}
    place = TaskPlace(parsed(task.address))
    app = SidingApp(siding, begin=lambda: place, source=lambda: _Given(feed))
    async with app.run_test(size=_SIZE) as pilot:
        await _settled(app, pilot, "viewed")
        pictures["terminal-task.svg"] = _clean(app.export_screenshot(title="siding"))
    home = HomePlace(now_s=lambda: time.time() + 120)
    app = SidingApp(siding, begin=lambda: home, source=lambda: _Given(feed))
    async with app.run_test(size=_SIZE) as pilot:
        await _settled(app, pilot, "change all callers")
        pictures["terminal-answer.svg"] = _clean(app.export_screenshot(title="siding"))
    return pictures


async def _settled(app: SidingApp, pilot: Pilot[int], shows: str) -> None:
    """Wait until the screen shows something, and nothing is read any more."""
    while shows not in app.export_screenshot().replace("&#160;", " "):
        await asyncio.sleep(0.05)
    await app.workers.wait_for_complete()
    await pilot.pause(0.5)


def _clean(svg: str) -> str:
    """Leave out what a browser would fetch from elsewhere."""
    return _LINK.sub("", _FONT_FACE.sub("", svg))


class _Given:
    """A feed that does not change."""

    def __init__(self, feed: Feed | None = None) -> None:
        rows = tuple(_row(number, each) for number, each in enumerate(_ROWS))
        drawn = Feed(epoch=1, seq=1, rows=rows, asks=(), problems=(), projects=3)
        self._feed = drawn if feed is None else feed._replace(epoch=1)
        self._closed = Event()

    def items(self) -> Iterator[Feed | Change]:
        yield self._feed
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
