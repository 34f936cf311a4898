"""The panel over a task's screen: by its key and by the palette, to the agent's settings."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from integration.undo.desk import Desk
from sandbox import Sandbox
from siding.chat.store import Chats
from siding.faces.tui.app import Options, SidingApp
from siding.faces.tui.effort.model import Position
from siding.faces.tui.effort.panel import EffortPanel
from siding.faces.tui.rows.styles import Look, Palette
from siding.feed.addresses import Address
from siding.record.place.wiring import open_app
from unit.faces.tui.apps import SomePlace, checked, screen_text

LOOKS = (Look(Palette.DARK), Look(Palette.NONE), Look(Palette.NONE, is_ascii=True))


def _talk(desk: Desk, agent: str, **more: str) -> None:
    """Let a task have a conversation that nobody holds."""
    chat = Chats(desk.project.task_layout(desk.task.id)).begin()
    began = {"event": "began", "agent": agent, "program": [agent], **more}
    chat.story.write_text(json.dumps({"seq": 1, "at": "2026-11-28T10:00:00Z", **began}) + "\n")


def _app(desk: Desk, look: Look = LOOKS[0], **env: str) -> tuple[SidingApp, SomePlace]:
    siding = open_app(env={**desk.sandbox.env, **env}, cwd=desk.sandbox.repo)
    place = SomePlace(Address(desk.project.layout.root.name, str(desk.task.id)))
    return SidingApp(siding, begin=lambda: place, options=Options(look=look)), place


async def _until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not is_so():
            await asyncio.sleep(0.02)


def _panel(app: SidingApp) -> bool:
    return isinstance(app.screen, EffortPanel)


def test_a_chosen_effort_counts_from_the_next_prompt(sandbox: Sandbox) -> None:
    desk = Desk(sandbox)
    _talk(desk, "claude", effort="medium")

    async def go() -> None:
        app, place = _app(desk)
        async with app.run_test(size=(100, 24)) as pilot:
            await pilot.press("alt+e")
            await _until(lambda: _panel(app))
            await pilot.pause()
            text = "\n".join(screen_text(app))
            assert "claude · work" in text
            await pilot.press("right", "right")
            await pilot.pause()
            assert "(medium)" in "\n".join(screen_text(app))
            await pilot.press("enter")
            await _until(lambda: "effort xhigh from the next prompt on" in place.foot.said)
            assert sandbox.json("chat", "set", "--json")["effort"] == "xhigh"
            await pilot.press("g", "e")
            await _until(lambda: _panel(app))
            panel = app.screen
            assert isinstance(panel, EffortPanel)
            assert panel.panel.cursor is Position.XHIGH
            await pilot.press("escape")
            await _until(lambda: "the effort is as it was" in place.foot.said)

    asyncio.run(go())


def test_ultra_changes_nothing_and_ripples(sandbox: Sandbox) -> None:
    desk = Desk(sandbox)
    _talk(desk, "claude", effort="low")

    async def go() -> None:
        app, place = _app(desk, CLAUDE_CODE_EFFORT_LEVEL="max")
        async with app.run_test(size=(100, 24)) as pilot:
            await pilot.press("ctrl+p", *"thinks", "enter")
            await _until(lambda: _panel(app))
            await pilot.pause()
            text = "\n".join(screen_text(app))
            assert "! CLAUDE_CODE_EFFORT_LEVEL=max goes before what is chosen here" in text
            assert not any(each in text for each in "░▒▓")
            await pilot.press("end")
            await _until(lambda: any(each in "".join(screen_text(app)) for each in "░▒▓"))
            await pilot.press("enter")
            await _until(lambda: "ultra is no effort" in place.foot.said)
            await pilot.press("x")
            assert sandbox.json("chat", "set", "--json")["effort"] == "low"

    asyncio.run(go())


def test_an_agent_without_efforts_cannot_be_set(sandbox: Sandbox) -> None:
    desk = Desk(sandbox)
    _talk(desk, "gemini")

    async def go() -> None:
        app, _place = _app(desk)
        async with app.run_test(size=(100, 24)) as pilot:
            await pilot.press("alt+e")
            await _until(lambda: _panel(app))
            await pilot.press("right", "enter")
            await pilot.pause()
            assert _panel(app)
            text = "\n".join(screen_text(app))
            assert "The effort of gemini cannot be set in a conversation." in text
            await pilot.press("ctrl+c")
            await _until(lambda: not _panel(app))

    asyncio.run(go())


def test_without_a_conversation_it_says_how_to_begin_one(sandbox: Sandbox) -> None:
    desk = Desk(sandbox)

    async def go() -> None:
        app, place = _app(desk)
        async with app.run_test(size=(100, 24)) as pilot:
            await pilot.press("alt+e")
            await _until(lambda: "siding chat AGENT PROMPT" in place.foot.said)

    asyncio.run(go())


@pytest.mark.parametrize("look", LOOKS, ids=lambda look: f"{look.palette}-{look.is_ascii}")
def test_every_width_and_look(sandbox: Sandbox, look: Look) -> None:
    desk = Desk(sandbox)
    _talk(desk, "claude", effort="max")

    async def go() -> None:
        app, _place = _app(desk, look)
        async with app.run_test(size=(40, 24)) as pilot:
            await pilot.press("alt+e")
            await _until(lambda: _panel(app))
            for width in (40, 59, 60, 80, 100, 200):
                await pilot.resize_terminal(width, 24)
                for key in ("end", "home"):
                    await pilot.press(key)
                    await pilot.pause()
                    text = "\n".join(checked(app, width))
                    assert "ultra" in text
                    assert "active" in text

    asyncio.run(go())


def test_the_screen_of_home_has_it_for_the_row(tmp_path: Path) -> None:
    """Without a row there is nothing that an effort could be of."""
    siding = open_app(env={"SIDING_HOME": str(tmp_path)}, cwd=tmp_path)

    async def go() -> None:
        app = SidingApp(siding)
        async with app.run_test(size=(100, 24)) as pilot:
            await pilot.press("alt+e")
            place = app.place
            assert place is not None
            await _until(lambda: "choose the row of its task" in place.foot.said)

    asyncio.run(go())
