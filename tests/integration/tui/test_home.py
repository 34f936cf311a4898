"""Home over a real home of two projects: answered, stopped, applied and undone by the screen."""

import asyncio
import json
import os
import shutil
from collections.abc import Collection, Iterator
from functools import partial
from pathlib import Path

import pytest

import left_to_prove
from integration.tui.screens import STEADY_S, Hand
from sandbox import Sandbox
from siding.feed.model import Row, State

TASKS = 10 if left_to_prove.ALL else 1  # worked from start to apply
# What they cost in keys, at most. A text, and the enter that ends it, is none of them.
GOALS = {
    "start": 1,
    "next waiting": 1,
    "answer one choice": 3,
    "stop": 2,
    "follow-up": 1,
    "comment and send": 3,
    "apply a ready task": 3,
}
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
# An agent that talks: it asks, makes a file, and hears what is typed. Nobody knows its words.
_AGENT = f"""#!/bin/sh
siding decide '{json.dumps(_QUESTION)}' >/dev/null
echo made > part$1.txt
while read said; do echo "heard $said"; done
"""


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
    agent = sandbox.directory / "home/.local/bin/auggie"
    agent.parent.mkdir(parents=True)
    agent.write_text(_AGENT)
    agent.chmod(0o755)
    sandbox.env["PATH"] = f"{agent.parent}{os.pathsep}{sandbox.env['PATH']}"
    talk = "while read said; do echo heard $said; done"
    siding("run", "--new", "talk", "--tty", "--detach", "--", "sh", "-c", talk)
    siding("run", "--new", "limits", "--detach", "--", "sh", "-c", asks, cwd=shop)
    yield sandbox
    for task, place in (("talk", sandbox.repo), ("views", shop), ("limits", shop)):
        siding("stop", "--all", "-t", task, cwd=place, status=None)


@pytest.mark.timeout(900)  # ten tasks, on a busy machine
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
        await _works(hand, day)
        _beside_the_goals(hand)


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


async def _works(hand: Hand, day: Sandbox) -> None:
    """Work tasks from their start to their apply by the keys of the screen alone."""
    for number in range(TASKS):
        known = {row.key for row in hand.app.feed.rows}
        with hand.within("start"):
            await hand.press("N")
            await hand.type(f"auggie {number}", ends=True)

        await hand.until(partial(_new_rows, hand, known), "a new row")
        (row,) = _new_rows(hand, known)
        name = row.name
        await _is_answered(hand, name)
        await _is_told(hand, name, f"part{number}.txt")
        with hand.within("stop"):
            await hand.press("x")
            await hand.sees(f"x again ends what runs in {name}")
            await hand.press("x")
        await hand.is_in(name, State.READY)
        with hand.within("apply a ready task"):
            await hand.stands_on(name)
            await hand.press("A")
            await hand.sees("A again does it")
            await hand.press("A")
        await hand.sees("applied to main")
        assert (day.repo / f"part{number}.txt").read_text() == "made\n"


def _new_rows(hand: Hand, known: Collection[str]) -> list[Row]:
    return [row for row in hand.app.feed.rows if row.key not in known]


async def _is_answered(hand: Hand, name: str) -> None:
    await hand.is_in(name, State.WAITS)
    with hand.within("answer one choice"):
        with hand.within("next waiting"):
            await hand.press("n")
        await hand.sees("keep the old signature?")
        await asyncio.sleep(STEADY_S)
        await hand.press("tab", "2")
    await hand.sees("answered: Change all")
    await hand.is_in(name, State.RUNS)


async def _is_told(hand: Hand, name: str, file: str) -> None:
    """Give its agent a prompt, and a comment on a line as the next one."""
    await hand.stands_on(name)
    with hand.within("follow-up"):
        await hand.press("f")
        await hand.type("more please", ends=True)
    await hand.sees("heard more please")
    await hand.press("enter")
    await hand.sees("+ made")
    await hand.press("J", "j")
    with hand.within("comment and send"):
        await hand.press("c")
        await hand.sees(f"comment on {file}:1")
        await hand.type("say why", ends=True)
        await hand.sees("say why", "draft")
        await hand.press("S")
        await hand.sees("send 1 comment")
        await hand.press("enter")
    await hand.sees("sent 1 comment to r1")
    await hand.press("q")
    await hand.sees("Requested change: say why")


def _beside_the_goals(hand: Hand) -> None:
    print(f"\n{'keys':<20} {'goal':>4}  of {TASKS} tasks")
    for act, goal in GOALS.items():
        counts = hand.counts[act]
        print(f"{act:<20} {goal:>4}  {min(counts)} to {max(counts)}")
        assert len(counts) == TASKS
        assert max(counts) <= goal, act


async def _puts_a_failure_away(hand: Hand) -> None:
    await hand.stands_on("musl")
    await hand.sees("exit 3")
    await asyncio.sleep(STEADY_S)
    await hand.press("ctrl+y", "3")
    await hand.is_in("musl", State.RESTS)
