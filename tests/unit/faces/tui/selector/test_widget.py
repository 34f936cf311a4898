"""The selector on a screen, below a field that has the focus: keys, messages, its own clock."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.app import ComposeResult
from textual.events import Key as KeyEvent
from textual.widgets import Input

from siding.faces.tui.app import Options, SidingApp
from siding.faces.tui.keys import spoken
from siding.faces.tui.place import Place
from siding.faces.tui.rows.styles import PLAIN_LOOK, Look, Palette
from siding.faces.tui.selector.model import GRACE_S, End, Entry, Kind
from siding.faces.tui.selector.widget import AgentSelector
from siding.record.place.wiring import open_app
from unit.faces.tui.apps import checked, screen_text

LOOKS = (Look(Palette.DARK), Look(Palette.NONE), Look(Palette.NONE, is_ascii=True))


class TalkPlace(Place):
    """A field with the selector below it, as the conversation of a task has them."""

    NAME = "talk"

    def __init__(self, now_s: Callable[[], float], *, has_field: bool = True) -> None:
        super().__init__()
        self.has_field = has_field
        self.agents = AgentSelector(now_s=now_s)
        self.field = Input()
        self.said: list[str] = []

    def body(self) -> ComposeResult:
        if self.has_field:
            yield self.field
        yield self.agents

    def use(self, look: Look) -> None:
        self.agents.use(look)

    async def on_key(self, event: KeyEvent) -> None:
        key = spoken(event.key, event.character)
        if key == "down" and self.agents.take_keys():
            event.stop()
            return
        await super().on_key(event)

    def on_agent_selector_viewed(self, message: AgentSelector.Viewed) -> None:
        self.said.append(f"view {message.key}")

    def on_agent_selector_stopped(self, message: AgentSelector.Stopped) -> None:
        self.said.append(f"stop {message.entry.key}")

    def on_agent_selector_left(self, message: AgentSelector.Left) -> None:
        del message
        self.said.append("left")
        self.field.focus()


def _app(home: Path, place: TalkPlace, look: Look = PLAIN_LOOK) -> SidingApp:
    siding = open_app(env={"SIDING_HOME": str(home)}, cwd=home)
    return SidingApp(siding, begin=lambda: place, options=Options(look=look))


def _entry(key: str, **more: Any) -> Entry:
    return Entry(key, Kind.AGENT, "Explore", f"about {key}", 100.0)._replace(**more)


def test_keys_choose_show_and_end(tmp_path: Path) -> None:
    place = TalkPlace(lambda: 123.0)

    async def go() -> None:
        app = _app(tmp_path, place)
        async with app.run_test(size=(80, 14)) as pilot:
            assert not place.agents.display
            await pilot.press("down")
            assert place.said == []
            place.agents.take([_entry("a"), _entry("b", started_s=101.0)])
            await pilot.pause()
            shown = [each for each in screen_text(app) if "Explore" in each or "main" in each]
            assert len(shown) == 3
            assert shown[1].endswith("23s")
            await pilot.press("down", "down", "enter", "x", "q", "up", "up")
            await pilot.pause()
            await pilot.press("x", "y")
            assert place.field.value == "xy", "the field has the keys again, and none went astray"
            assert place.said == ["view a", "stop a", "left"]
            assert place.agents.selector.viewed == "a"
            assert place.agents.leave_view()
            assert not place.agents.leave_view()
            await pilot.pause()
            assert place.said[-1] == "view "

    asyncio.run(go())


def test_what_has_ended_goes_by_a_clock_of_its_own(tmp_path: Path) -> None:
    clock = [1000.0]
    place = TalkPlace(lambda: clock[0])

    async def go() -> None:
        app = _app(tmp_path, place)
        async with app.run_test(size=(80, 14)) as pilot:
            ended = _entry("a", started_s=990.0, end=End.DONE, ended_s=1000.0)
            place.agents.take([ended])
            await pilot.pause()
            assert place.agents.take_keys()
            clock[0] += GRACE_S - 0.02
            place.agents.take([ended])  # nothing has changed: only its clock ends it
            assert place.agents.selector.rows
            clock[0] += 0.02
            async with asyncio.timeout(30):
                while place.agents.selector.rows:
                    await asyncio.sleep(0.01)
            await pilot.pause()
            assert not place.agents.display
            assert place.said == ["left"]

    asyncio.run(go())


@pytest.mark.parametrize("look", LOOKS, ids=lambda look: f"{look.palette}-{look.is_ascii}")
def test_every_width_and_look(tmp_path: Path, look: Look) -> None:
    place = TalkPlace(lambda: 123.0, has_field=False)

    async def go() -> None:
        app = _app(tmp_path, place, look)
        async with app.run_test(size=(40, 14)) as pilot:
            place.agents.take([_entry("漢字"), _entry("שלום", started_s=101.0, end=End.FAILED)])
            place.agents.take_keys()
            for width in (40, 60, 80, 100, 200):
                await pilot.resize_terminal(width, 14)
                await pilot.pause()
                lines = checked(app, width)
                assert sum("Explore" in each for each in lines) == 2

    asyncio.run(go())
