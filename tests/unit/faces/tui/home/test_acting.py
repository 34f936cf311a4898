"""A key that is pressed while an act changes its row waits for that act, or says that it does not.

The acts themselves are made up: each ends when the test lets it.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from textual.pilot import Pilot

from siding.faces.plans.plan import ActPlan
from siding.faces.tui.acts import tasks
from siding.faces.tui.acts.reading import Peek
from siding.faces.tui.app import SidingApp
from siding.faces.tui.places.home.place import HomePlace
from siding.feed.model import Row
from siding.ground.errors import UsageError
from siding.record.place.wiring import open_app
from unit.faces.tui.apps import GivenSource, screen_text
from unit.faces.tui.home.feeds import NOW, feed, row

_PLAN = ActPlan("apply", "Apply to main", "1 commit", (), (), (), (), False, "d1")
_SHOWN = "A again does it"


def _nothing_at(_app: object, about: Row) -> Peek:
    return Peek(about.key)


class Bench:
    """Home with two rows, and acts on them that end when `let` is set."""

    def __init__(self, home: Path, patch: pytest.MonkeyPatch) -> None:
        self.home, self.let, self.done = home, Event(), list[str]()
        self.fails = ""
        self.pilot: Pilot[int]
        for name in ("stop", "planned", "carried_out", "undo_apply"):
            patch.setattr(tasks, name, self._act(name))
        patch.setattr("siding.faces.tui.acts.reading.peek_at", _nothing_at)

    def _act(self, name: str) -> Callable[..., Any]:
        def act(app: object, about: Row, *rest: str) -> Any:
            del app
            if name == "planned" and self.fails != "planned":
                return _PLAN
            if self.fails == name:
                raise UsageError(f"{name} failed", hint="look")
            assert self.let.wait(60)
            self.done.append(" ".join((name, about.key, *rest)))
            return f"{name} done"

        return act

    @asynccontextmanager
    async def shown(self) -> AsyncIterator[None]:
        siding = open_app(env={"SIDING_HOME": str(self.home)}, cwd=self.home)
        source, place = GivenSource(), HomePlace(now_s=lambda: NOW)
        app = SidingApp(siding, begin=lambda: place, source=lambda: source)
        async with app.run_test(size=(100, 30)) as self.pilot:
            try:
                source.given.put(feed(row("a"), row("b")))
                await self.sees("task a", "task b")
                yield
            finally:
                self.let.set()

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    def text(self) -> str:
        return "\n".join(screen_text(self.pilot.app))

    async def sees(self, *texts: str) -> None:
        for _look in range(3000):
            if all(text in self.text() for text in texts):
                return
            await asyncio.sleep(0.02)
        raise AssertionError(f"{texts} did not come:\n{self.text()}")

    async def settled(self) -> None:
        """Let what was begun end, and be drawn."""
        self.let.set()
        await self.pilot.app.workers.wait_for_complete()
        await self.pilot.pause()


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    return Bench(tmp_path, monkeypatch)


def test_it_is_done_when_the_act_is_over_and_not_twice(bench: Bench) -> None:
    async def go() -> None:
        async with bench.shown():
            await bench.press("x", "x", "A", "A", "A")
            await bench.sees("stop of task a goes on: A comes after it")
            assert _SHOWN not in bench.text()
            bench.let.set()
            await bench.sees("stop done", _SHOWN)  # both what was done, and the plan
            assert bench.done == ["stop a"]  # a plan that nobody has seen is not carried out
            bench.let.clear()
            await bench.press("A", "U")
            await bench.sees("apply of task a goes on: U comes after it")
            bench.let.set()
            await bench.sees("carried_out done", "U again takes back the apply of task a")
            await bench.press("U")
            await bench.sees("undo_apply done")
            assert bench.done == ["stop a", "carried_out a apply d1", "undo_apply a"]

    asyncio.run(go())


@pytest.mark.parametrize("other", ["j", "z", "2"])
def test_any_other_key_leaves_it(bench: Bench, other: str) -> None:
    async def go() -> None:
        async with bench.shown():
            await bench.press("x", "x", "A", other)
            await bench.settled()
            assert _SHOWN not in bench.text()

    asyncio.run(go())


def test_an_act_on_another_row_does_not_wait(bench: Bench) -> None:
    async def go() -> None:
        async with bench.shown():
            await bench.press("x", "x", "j", "A")
            await bench.sees(_SHOWN)
            assert not bench.done

    asyncio.run(go())


def test_a_plan_that_fails_does_not_keep_its_key(bench: Bench) -> None:
    async def go() -> None:
        async with bench.shown():
            bench.fails = "planned"
            await bench.press("A")
            await bench.sees("planned failed")
            bench.fails = ""
            await bench.press("A")
            await bench.sees(_SHOWN)

    asyncio.run(go())


def test_what_waits_for_an_act_that_fails_says_that_it_was_not_begun(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_about: object) -> str:
        assert bench.let.wait(60)
        raise UsageError("it does not end", hint="look")

    monkeypatch.setattr(tasks, "stop", fails)

    async def go() -> None:
        async with bench.shown():
            await bench.press("x", "x", "A")
            bench.let.set()
            await bench.sees("it does not end", "A was not begun: press it again")
            await bench.press("A")
            await bench.sees(_SHOWN)

    asyncio.run(go())
