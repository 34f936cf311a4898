"""Home over a real home of two projects: answered, stopped, applied and undone by the screen."""

import asyncio
import json
import shutil
from pathlib import Path

import pytest

from integration.tui.screens import STEADY_S, Hand
from sandbox import Sandbox
from siding.feed.model import State

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
def day(tmp_path: Path) -> Sandbox:
    """Return a home with a task that waits, one that broke, one to apply and one that runs."""
    sandbox = Sandbox(tmp_path)
    shop = tmp_path / "shop"
    shutil.copytree(sandbox.repo, shop, symlinks=True)
    asks = f"siding decide '{json.dumps(_QUESTION)}' > answer.json"
    siding = sandbox.siding
    siding("run", "--new", "types", "--", "sh", "-c", "echo typed >> hello.txt")
    siding("run", "--new", "musl", "--", "sh", "-c", "exit 3", status=3)
    siding("run", "--new", "views", "--detach", "--", "sleep", "300", cwd=shop)
    siding("run", "--new", "limits", "--detach", "--", "sh", "-c", asks, cwd=shop)
    return sandbox


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


async def _answers(hand: Hand, day: Sandbox) -> None:
    await hand.press("n")
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


async def _puts_a_failure_away(hand: Hand) -> None:
    await hand.stands_on("musl")
    await hand.sees("exit 3")
    await asyncio.sleep(STEADY_S)
    await hand.press("ctrl+y", "3")
    await hand.is_in("musl", State.RESTS)
