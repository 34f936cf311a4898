"""The tab of the output: of a step, of a run that lives, of a program that draws."""

import asyncio
import gc
import time
import weakref

import pytest

from siding.faces.tui.places.task import outputs
from siding.faces.tui.places.task.output_tab import OutputTab
from siding.faces.tui.places.task.place import TaskPlace
from siding.faces.tui.rows.searching import Search

from ..undo.desk import Desk
from .task_screen import TaskScreen


def test_the_output_of_a_step_its_errors_and_a_search(desk: Desk, screen: TaskScreen) -> None:
    desk.shell("seq 1 50; echo '\033[31merror: one\033[0m'; seq 51 99; echo FAILED two; seq 3 >&2")
    desk.shell("true")

    async def work() -> None:
        async with screen.shown():
            await screen.press("o")
            await screen.sees("it printed nothing")
            await screen.press("h")
            text = await screen.sees("--- stdout", "104 lines")
            assert "\x1b" not in text
            await screen.press("J")
            assert ">error: one" in await screen.sees("error: one")
            await screen.press("J")
            assert ">FAILED two" in await screen.sees("FAILED two")
            await screen.press("J")
            await screen.sees("no line further on speaks of an error")
            await screen.press("slash")
            await screen.type("77")
            await screen.sees(">77")
            await screen.press("l")
            await screen.sees("it printed nothing")
            await screen.press("l")
            await screen.sees("there is no other run on this side")

    asyncio.run(work())


def test_a_run_that_lives_is_followed_to_its_end(desk: Desk, screen: TaskScreen) -> None:
    go, stop = desk.sandbox.directory / "go", desk.sandbox.directory / "stop"
    wait = "until test -e {}; do sleep 0.02; done"
    script = f"echo first; {wait.format(go)}; echo second; {wait.format(stop)}; echo third"
    desk.sandbox.siding("run", "--detach", "-t", desk.task.id, "--", "sh", "-c", script)

    async def work() -> None:
        async with screen.shown():
            try:
                await screen.press("o")
                await screen.sees("lives, 1 line", "first")
                go.touch()
                await screen.sees("second", "lives, 2 lines")
            finally:
                go.touch()
                stop.touch()
            text = await screen.sees("third")
            assert "first" in text
            await screen.gone("lives")
            await screen.press("s")
            await screen.sees("0001")

    asyncio.run(work())


def test_a_program_that_draws_shows_its_last_screen(desk: Desk, screen: TaskScreen) -> None:
    draw = "printf '\\033[2J\\033[3;5Hdrawn here\\033[1;1Htop'"
    desk.sandbox.siding("run", "--detach", "--tty", "-t", desk.task.id, "--", "sh", "-c", draw)

    async def work() -> None:
        async with screen.shown():
            await screen.until(desk.steps)
            await screen.press("o")
            text = await screen.sees("a for attach", "    drawn here", "top")
            assert "\x1b" not in text
            await screen.press("a")
            await screen.sees("no run lives in this task")

    asyncio.run(work())


def test_a_large_output_is_read_and_searched_in_slices(
    desk: Desk, screen: TaskScreen, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More than one slice: the begin is there first, and keys are obeyed while it is searched."""
    lines = "the quick brown fox jumps over the lazy dog, and nothing else is said here"
    script = f"yes '{lines}' | head -c 2000000; printf '\\nthe ne\\033[31medle\\033[0m\\nend\\n'"
    desk.shell(script)
    monkeypatch.setattr(outputs, "_AT_ONCE", 1 << 18)

    async def search(text: str) -> None:
        await screen.press("slash")
        await screen.until(lambda: screen.place.typing.has_focus)
        screen.place.typing.clear()
        await screen.type(text)

    async def work() -> None:
        async with screen.shown():
            await screen.press("o")
            await screen.sees("the quick brown fox")
            await search("needle")
            text = await screen.sees(">the needle")
            assert "searching" not in text
            assert "new lines" not in text
            await screen.press("n")
            await screen.until(lambda: not output_of(screen)._finding.goes_on)
            assert ">the needle" in screen.text()
            await screen.press("g", "g")
            monkeypatch.setattr(Search, "go_on", lambda _self, _seconds: time.sleep(0.01))
            await search("no such word")
            await screen.until(lambda: output_of(screen)._finding.goes_on)
            assert "escape stops it" in screen.text()
            await screen.press("escape")
            assert not output_of(screen)._finding.goes_on
            assert await screen.sees("the quick brown fox")
            assert screen.place.is_current

            def gone(_self: Search, _seconds: float) -> None:
                raise FileNotFoundError(2, "it is gone", "output")

            with monkeypatch.context() as patched:
                patched.setattr(Search, "go_on", gone)
                await search("no such file")
                await screen.sees("it is gone")
                await screen.until(lambda: not output_of(screen)._finding.goes_on)
            await search("no such word again")
            await screen.until(lambda: output_of(screen)._finding.goes_on)
            await screen.press("pagedown")
            assert not output_of(screen)._finding.goes_on
            monkeypatch.undo()
            await search("no such word")
            await screen.sees("'no such word' is nowhere here")
            await screen.press("K")
            await screen.sees("no line further on speaks of an error")

    asyncio.run(work())


def output_of(screen: TaskScreen) -> OutputTab:
    found = screen.place.tabs["output"]
    assert isinstance(found, OutputTab)
    return found


def test_a_task_that_was_left_is_not_kept(desk: Desk, screen: TaskScreen) -> None:
    """The screen is open all day: whoever looks at many tasks has only the last one in memory."""
    desk.shell("seq 3")

    async def opened_and_left() -> "weakref.ref[TaskPlace]":
        place = TaskPlace(screen.place.address)
        screen.app.push_screen(place)
        await screen.until(lambda: place._opened is not None)
        await screen.press("o", "s", "p", "escape")
        await screen.until(lambda: screen.app.place is screen.place)
        return weakref.ref(place)

    async def work() -> None:
        async with screen.shown():
            left = [await opened_and_left() for _ in range(3)]
            await screen.done()
            gc.collect()
            assert sum(each() is not None for each in left) <= 1

    asyncio.run(work())
