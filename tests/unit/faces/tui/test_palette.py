"""Choosing by typing: tasks of all projects and acts of the place; the help runs an act."""

import asyncio
from pathlib import Path

from textual.events import Paste

from siding.faces.tui.palette import Chooser
from siding.feed.model import State
from unit.faces.tui.apps import SomePlace, app_in, feed, row, screen_text


def test_the_help_filters_and_runs_an_act_of_the_place(tmp_path: Path) -> None:
    place = SomePlace()

    async def go() -> None:
        app = app_in(tmp_path, place)
        async with app.run_test(size=(60, 16)) as pilot:
            await pilot.press("?")
            assert isinstance(app.screen, Chooser)
            await pilot.press("s", "t", "o", "p", "z", "backspace")
            assert any("> stop it" in line and "x x" in line for line in screen_text(app))
            await pilot.press("enter")
            await app.workers.wait_for_complete()
            assert place.done == ["stop"]
            await pilot.press("?", "n", "o", "ctrl+u", "escape", "n")
            assert place.done == ["stop", "next"], "what was typed in the list ran nothing"

    asyncio.run(go())


def test_the_palette_goes_to_a_task_of_any_project(tmp_path: Path) -> None:
    place = SomePlace()
    opened: list[str] = []

    async def go() -> None:
        app = app_in(tmp_path, place)
        app.open_address = lambda address: opened.append(str(address))  # type: ignore[method-assign]
        async with app.run_test(size=(60, 16)) as pilot:
            app.feed = feed(row("alpha", State.RESTS), row("beta", State.WAITS))
            await pilot.press("ctrl+p")
            lines = screen_text(app)
            assert next(line for line in lines if "task" in line).split()[-1] == "waits"
            app.screen.post_message(Paste("alph\n1\ny"))
            await pilot.press("enter")
            assert opened == ["siding://p/alpha"]
            await pilot.press("ctrl+p", "q", "q", "q", "enter")
            assert any("nothing has all of these words" in line for line in screen_text(app))
            await pilot.press("escape")
            assert app.screen is place

    asyncio.run(go())


def test_the_list_fits_any_terminal_and_follows_the_choice(tmp_path: Path) -> None:
    async def go() -> None:
        for columns, rows in ((20, 6), (60, 10), (300, 60)):
            app = app_in(tmp_path)
            async with app.run_test(size=(columns, rows)) as pilot:
                app.feed = feed(*(row(f"{number:03}") for number in range(200)))
                await pilot.press("ctrl+p", "end", "up", "up", "home", "pagedown")
                assert isinstance(app.screen, Chooser)
                assert app.screen.choices.at == 10
                lines = screen_text(app)
                wanted = "> p  task" if columns == 20 else "> p  task 010"
                assert any(line.lstrip().startswith(wanted) for line in lines), lines
                await pilot.press("escape")

    asyncio.run(go())
