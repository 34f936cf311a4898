"""Going back and doing again from the list of the steps: shown, done, undone, done again, twice."""

import asyncio
import sys
from functools import partial

import pytest

from siding.faces.tui.places.task.steps_tab import StepsTab

from ..undo.desk import Desk
from ..undo.test_prompt_again import AGENT, SESSION
from .task_screen import TaskScreen


@pytest.fixture
def talk(desk: Desk) -> Desk:
    """A task in which an agent was given two prompts, each of which made a file."""
    program = desk.sandbox.directory / "bin" / "claude"
    program.parent.mkdir()
    program.write_text(AGENT.format(python=sys.executable, session=SESSION))
    program.chmod(0o755)
    desk.sandbox.env["PATH"] = f"{program.parent}:{desk.sandbox.env['PATH']}"
    desk.sandbox.env["SEEN"] = str(desk.sandbox.directory / "seen")
    desk.sandbox.siding("guard", "off")
    desk.sandbox.siding("run", "--", "claude", "-p", "Make one")
    desk.sandbox.siding("run", "--", "claude", "-p", "Make two", "--resume", SESSION)
    return Desk.again(desk)


def made(desk: Desk) -> dict[str, bytes]:
    """Return what the prompts have made: their files, each with something new every time."""
    return {each.name.removeprefix("m-"): each.read_bytes() for each in desk.root.glob("m-*")}


def has_runs(desk: Desk, many: int) -> bool:
    return sum(each.kind_shown == "run" for each in desk.steps()) == many


def steps_of(screen: TaskScreen) -> StepsTab:
    found = screen.place.tabs["steps"]
    assert isinstance(found, StepsTab)
    return found


def test_before_a_prompt_undone_redone_and_once_more(talk: Desk) -> None:
    screen, before = TaskScreen(talk), made(talk)
    assert sorted(before) == ["one", "two"]

    async def work() -> None:
        async with screen.shown():
            await screen.press("s")
            await screen.sees("Make two", "+2 -0")
            await screen.does("w", "Go back to before 'Make two'", "step 0005: back to before")
            assert [*made(talk)] == ["one"]
            await screen.does("U", "Undo: step 0005", "undid step 0005")
            assert made(talk) == before
            await screen.does("R", "Redo: step 0005", "did step 0005 again")
            assert [*made(talk)] == ["one"]
            await screen.does("U", "Undo: step 0005", "undid step 0005")
            assert made(talk) == before
            await screen.press("w")
            await screen.sees("no prompt is here")
            await screen.press("j", "z", "j")
            await screen.sees(">   0003  turn")
            await screen.does("w", "Go back to before 'Make two'", "back to before")
            assert [*made(talk)] == ["one"]

    asyncio.run(work())


def test_an_agent_is_given_a_prompt_again_undone_and_once_more(talk: Desk) -> None:
    screen, first = TaskScreen(talk), made(talk)

    async def again(screen: TaskScreen, shows: str, many: int) -> bytes:
        await screen.does("t", shows, "[o Output]")
        await screen.sees("runs in the background", "U takes it back")
        await screen.until(partial(has_runs, talk, many))
        await screen.press("s", "r")
        await screen.done()
        return made(talk)["two"]

    async def work() -> None:
        async with screen.shown():
            await screen.press("s", "z", "j")
            await screen.sees(">   0003  turn")
            second = await again(screen, "Do step 0003 again", 3)
            assert second != first["two"]
            await screen.does("U", "Undo: step 0006", "undid step 0006 (Make two)")
            await screen.does("U", "Undo: step 0005", "undid step 0005")
            assert made(talk) == first
            steps_of(screen).list.stand_on(0)
            await screen.press("t")
            await screen.sees("step 0009 (undo) has no command")
            steps_of(screen).list.stand_on_key("4")
            assert await again(screen, "Do step 0004 again", 4) not in (first["two"], second)

    asyncio.run(work())


def test_a_command_is_done_again_twice(desk: Desk, screen: TaskScreen) -> None:
    desk.shell("echo one >> n.txt")
    desk.shell("echo two >> n.txt")

    async def work() -> None:
        async with screen.shown():
            await screen.press("s")
            await screen.sees("0002")
            await screen.press("z")
            await screen.sees("no prompts are below this step")
            await screen.press("L")
            for runs in (3, 4):
                await screen.does("t", "Do step 0002 again", "[o Output]")
                await screen.until(partial(has_runs, desk, runs))
                assert desk.read("n.txt") == b"one\ntwo\n"
                await screen.press("s", "r")
                await screen.done()
                steps_of(screen).list.stand_on_key("2")
            same = "no file changes; the next undo is about what came before it"
            await screen.does("U", same, "undid step 0006 (sh -c 'echo two >> n.txt')")
            await screen.does("U", same, "undid step 0004 (sh -c 'echo two >> n.txt')")
            assert desk.read("n.txt") == b"one\ntwo\n"
            await screen.does("U", "Undo: step 0002 is undone (sh", "undid step 0002")
            assert desk.read("n.txt") == b"one\n"
            for step in ("0002", "0004", "0006"):
                await screen.does("R", f"Redo: step {step}", f"did step {step}")
            assert desk.read("n.txt") == b"one\ntwo\n"

    asyncio.run(work())
