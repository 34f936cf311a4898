"""The terminal over a real home: it follows the fold of the files, and counts the keys pressed."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterator
from contextlib import asynccontextmanager
from threading import Event
from typing import Self

from textual.pilot import Pilot

from sandbox import Sandbox
from siding.faces.tui.app import SidingApp
from siding.faces.tui.places.home.place import HomePlace
from siding.feed.fold import HomeFold
from siding.feed.model import Change, Feed, Row, State
from siding.record.place.wiring import App, open_app
from unit.faces.tui.apps import screen_text

_LOOK_S = 0.1
_WAIT_S = 60.0
STEADY_S = 0.45  # a hand: after a card came, and between its chord and its answer


class FoldSource:
    """Looks at the files again and again: the feed without its hub."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._ended = Event()

    def items(self) -> Iterator[Feed | Change]:
        fold, last = HomeFold(self._app), None
        while not self._ended.is_set():
            fold.touched(())
            feed = fold.look()
            if last is None or feed._replace(seq=0) != last._replace(seq=0):
                yield feed._replace(epoch=time.time_ns())
                last = feed
            self._ended.wait(_LOOK_S)

    def show(self, addresses: Collection[str], *, focused: bool | None) -> None:
        del addresses, focused

    def close(self) -> None:
        self._ended.set()


class Hand:
    """A person at the terminal. `pressed` counts the keys."""

    def __init__(self, app: SidingApp, home: HomePlace, pilot: Pilot[int]) -> None:
        self.app, self.home = app, home
        self._pilot = pilot
        self.pressed = 0

    @classmethod
    @asynccontextmanager
    async def at(cls, sandbox: Sandbox) -> AsyncIterator[Self]:
        """Yield a hand at the terminal of a sandbox's home."""
        siding = open_app(env=sandbox.env, cwd=sandbox.repo)
        home = HomePlace()
        app = SidingApp(siding, begin=lambda: home, source=lambda: FoldSource(siding))
        async with app.run_test(size=(120, 40)) as pilot:
            yield cls(app, home, pilot)

    async def press(self, *keys: str) -> None:
        """Press keys, as a person does who looks at the screen before each answer."""
        for key in keys:
            if self.home.pane.arming.is_armed:
                await asyncio.sleep(STEADY_S)
            await self._pilot.press(key)
            self.pressed += 1

    async def type(self, text: str) -> None:
        """Type a text; its letters are not counted as keys of the act."""
        for letter in text:
            await self._pilot.press("space" if letter == " " else letter)

    def shown(self) -> str:
        return "\n".join(screen_text(self.app))

    async def sees(self, text: str) -> None:
        """Wait until the screen has a text."""
        await self.until(lambda: text in self.shown(), text)

    async def until(self, holds: Callable[[], bool], what: str = "") -> None:
        """Wait until something holds."""
        end = time.monotonic() + _WAIT_S
        while not holds():
            assert time.monotonic() < end, f"{what!r} did not come:\n{self.shown()}"
            await asyncio.sleep(0.05)
            await self._pilot.pause()

    def row(self, name: str) -> Row:
        return next(each for each in self.app.feed.rows if each.name == name)

    async def is_in(self, name: str, state: State) -> None:
        """Wait until the row of a task has a state."""

        def holds() -> bool:
            return any(row.name == name and row.state is state for row in self.app.feed.rows)

        await self.until(holds, f"{name} {state}")

    async def stands_on(self, name: str) -> None:
        """Put the cursor on a row, as its slot would."""
        self.home._go(self.row(name).key, "")
        await self._pilot.pause()
