"""The first start: once, left by any key, nothing written before."""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest
from textual.screen import Screen

from siding.faces.tui.app import Options, SidingApp
from siding.faces.tui.first import First, lines_of
from siding.faces.tui.found import Found
from siding.faces.tui.rows.styles import Look, Palette
from siding.guard.guard import Guard, guard
from siding.record.place.wiring import App, open_app
from siding.running.installed_agents import installed
from unit.faces.tui.apps import SomePlace, screen_text


def _app(siding: App) -> SidingApp:
    return SidingApp(siding, begin=SomePlace, options=Options(greets=True))


def _top(app: SidingApp) -> Screen[Any]:
    return app.screen


@pytest.mark.parametrize(("key", "answered"), [("g", Guard.ON), ("x", Guard.UNASKED)])
def test_it_is_left_by_a_key_and_does_not_come_again(
    tmp_path: Path, key: str, answered: Guard
) -> None:
    siding = open_app(env={"SIDING_HOME": str(tmp_path / "home"), "PATH": ""}, cwd=tmp_path)

    async def go() -> None:
        app = _app(siding)
        async with app.run_test(size=(60, 24)) as pilot:
            await pilot.pause()
            shown = _top(app)
            assert isinstance(shown, First)
            first: First = shown
            first._shown_at = first._clock() + 3600  # a busy machine takes longer than a person
            await pilot.press(key)
            assert _top(app) is first, "the key came before anybody could read"
            assert not os.path.lexists(siding.home.root)
            first._shown_at = first._clock() - 1
            await pilot.press(key)
            await app.workers.wait_for_complete()
            assert _top(app) is app.place
            assert guard(siding) is answered
        again = _app(siding)
        async with again.run_test() as pilot:
            await pilot.pause()
            assert _top(again) is again.place

    asyncio.run(go())


def test_it_says_what_was_found_at_every_width(tmp_path: Path) -> None:
    for name in ("claude", "opencode"):
        (tmp_path / name).write_text("")
        (tmp_path / name).chmod(0o755)
    env = {"PATH": str(tmp_path), "HOME": str(tmp_path / "nobody")}
    assert installed(env, tmp_path) == ("claude (never started here)", "opencode")
    assert installed({**env, "PATH": ""}, tmp_path) == ()
    found = Found(agents=("claude",), guard=Guard.UNASKED, hooks=1)
    look = Look(Palette.LIGHT)
    assert [line.partition(":")[0] for line in lines_of(found, look)[1:5]] == [
        "Colours",
        "Agents found",
        "Guard",
        "Hooks",
    ]
    answered = found._replace(guard=Guard.OFF, hooks=0, agents=())
    assert lines_of(answered, look)[-1] == "Any other key goes on and changes nothing."
    siding = open_app(env={"SIDING_HOME": str(tmp_path / "home")}, cwd=tmp_path)

    async def go() -> None:
        for columns in (40, 100, 300):
            app = _app(siding)
            async with app.run_test(size=(columns, 30)) as pilot:
                await pilot.pause()
                assert "changes nothing." in " ".join(" ".join(screen_text(app)).split())

    asyncio.run(go())
