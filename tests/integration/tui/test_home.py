"""Home over a real home of two projects: answered, stopped, applied and undone by the screen."""

import asyncio
import json
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

import left_to_prove
from integration.tui.screens import STEADY_S, Hand
from sandbox import Sandbox
from siding.feed.model import State

TASKS = 10 if left_to_prove.ALL else 1  # worked from start to apply
_QUESTION = {
    "task": "choose",
    "source": "the plan",
    "items": [
        {
            "id": 1,
            "title": "keep the old signature?",
            "options": [
                {"value": "keep", "label": "Keep it", "pros": ["14 callers"]},
                {"value": "change", "label": "Change all"},
            ],
        }
    ],
}


@pytest.fixture
def day(tmp_path: Path) -> Iterator[Sandbox]:
    """Yield a home with a task that waits, one that broke, one to apply and two that run."""
    sandbox = Sandbox(tmp_path)
    shop = tmp_path / "shop"
    shutil.copytree(sandbox.repo, shop, symlinks=True)
    asks = f"siding decide '{json.dumps(_QUESTION)}' > answer.json"
    siding = sandbox.siding
    siding("run", "--new", "types", "--", "sh", "-c", "echo typed >> hello.txt")
    siding("run", "--new", "musl", "--", "sh", "-c", "exit 3", status=3)
    siding("run", "--new", "views", "--detach", "--", "sleep", "300", cwd=shop)
    talk = "while read said; do echo heard $said; done"
    siding("run", "--new", "talk", "--tty", "--detach", "--", "sh", "-c", talk)
    siding("run", "--new", "limits", "--detach", "--", "sh", "-c", asks, cwd=shop)
    yield sandbox
    for task, place in (("talk", sandbox.repo), ("views", shop), ("limits", shop)):
        siding("stop", "--all", "-t", task, cwd=place, status=None)


def test_a_day_at_the_screen(day: Sandbox) -> None:
    asyncio.run(_a_day(day))


async def _a_day(day: Sandbox) -> None:
    async with Hand.at(day) as hand:
        await hand.is_in("limits", State.WAITS)
        await hand.is_in("types", State.READY)
        await _answers(hand, day)
        await _stops(hand)
        await _applies_and_undoes(hand, day)
        await _puts_a_failure_away(hand)
        await _says_something(hand)
        await _begins(hand, day)


async def _answers(hand: Hand, day: Sandbox) -> None:
    hand.pressed = 0
    await hand.press("n")
    assert hand.pressed == 1
    await hand.sees("keep the old signature?")
    await hand.sees("14 callers")
    await asyncio.sleep(STEADY_S)
    hand.pressed = 0
    await hand.press("tab", "1")
    assert hand.pressed == 2
    await hand.sees("answered: Keep it")
    listed = json.loads(
        day.siding("decide", "list", "--all", "--json", cwd=day.directory / "shop").stdout
    )
    assert [each["output"]["decisions"][0]["chosen"] for each in listed] == ["keep"]
    assert listed[0]["via"] == "terminal"
    await hand.is_in("limits", State.READY)


async def _stops(hand: Hand) -> None:
    await hand.stands_on("views")
    hand.pressed = 0
    await hand.press("x")
    await hand.sees("x again ends what runs in views")
    assert hand.row("views").state is State.RUNS
    await hand.press("x")
    assert hand.pressed == 2
    await hand.until(lambda: not hand.row("views").run, "views to end")


async def _applies_and_undoes(hand: Hand, day: Sandbox) -> None:
    before = day.git("rev-parse", "main")
    await hand.stands_on("types")
    hand.pressed = 0
    await hand.press("A")
    await hand.sees("A again does it")
    assert day.git("rev-parse", "main") == before
    await hand.press("A")
    assert hand.pressed == 2
    await hand.sees("applied to main")
    assert (day.repo / "hello.txt").read_text() == "hello\ntyped\n"
    await hand.press("U")
    await hand.sees("U again takes back the apply of types")
    await hand.press("U")
    await hand.until(lambda: (day.repo / "hello.txt").read_text() == "hello\n", "the undo")
    assert day.git("rev-parse", "main") == before
    await hand.is_in("types", State.READY)


async def _says_something(hand: Hand) -> None:
    await hand.is_in("talk", State.RUNS)
    await hand.stands_on("talk")
    hand.pressed = 0
    await hand.press("f")
    await hand.type("hello agent")
    await hand.press("enter")
    assert hand.pressed == 2  # and the text
    await hand.sees("sent to")
    await hand.sees("heard hello agent")  # the pane shows its last lines


def _is_ready(hand: Hand, name: str) -> bool:
    rows = hand.app.feed.rows
    return any(name in row.what and row.state is State.READY for row in rows)


async def _begins(hand: Hand, day: Sandbox) -> None:
    """Work tasks from their start to their apply by the screen alone."""
    for number in range(TASKS):
        name = f"part{number}.txt"
        hand.pressed = 0
        await hand.press("N")
        await hand.type(f"sh -c 'echo made > {name}'")
        await hand.press("enter")
        await hand.until(partial(_is_ready, hand, name), f"the change of {name}")
        row = next(each for each in hand.app.feed.rows if name in each.what)
        await hand.stands_on(row.name)
        await hand.press("A")
        await hand.sees("A again does it")
        await hand.press("A")
        await hand.sees("applied to main")
        assert hand.pressed == 4  # and the command
        assert (day.repo / name).read_text() == "made\n"


async def _puts_a_failure_away(hand: Hand) -> None:
    await hand.stands_on("musl")
    await hand.sees("exit 3")
    await asyncio.sleep(STEADY_S)
    await hand.press("ctrl+y", "3")
    await hand.is_in("musl", State.RESTS)
