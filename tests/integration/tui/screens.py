"""The terminal over a real home: it follows the fold of the files, and counts the keys pressed."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterator
from contextlib import asynccontextmanager, contextmanager
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
    """A person at the terminal.

    `pressed` counts the keys, and `counts` those of each act that was done `within`.
    """

    def __init__(self, app: SidingApp, home: HomePlace, pilot: Pilot[int]) -> None:
        self.app, self.home = app, home
        self._pilot = pilot
        self.pressed = 0
        self.counts: dict[str, list[int]] = {}

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

    @contextmanager
    def within(self, act: str) -> Iterator[None]:
        """Count the keys of an act from here to the end of the block."""
        before = self.pressed
        yield
        self.counts.setdefault(act, []).append(self.pressed - before)

    async def type(self, text: str, *, ends: bool = False) -> None:
        """Type a text; its letters, and the enter that ends it, are not counted as keys."""
        for letter in text:
            await self._pilot.press("space" if letter == " " else letter)
        if ends:
            await self._pilot.press("enter")

    def shown(self) -> str:
        return "\n".join(screen_text(self.app))

    async def sees(self, *texts: str) -> None:
        """Wait until the screen has all of these texts."""
        await self.until(lambda: all(text in self.shown() for text in texts), " and ".join(texts))

    async def until(self, holds: Callable[[], object], what: str = "") -> None:
        """Wait until something holds."""
        end = time.monotonic() + _WAIT_S
        while not holds():
            assert time.monotonic() < end, f"{what!r} did not come:\n{self.shown()}"
            await asyncio.sleep(0.05)
            await self._pilot.pause()

    def row(self, name: str) -> Row:
        """Return the row of a task; of several with one name, the one that is not done."""
        named = [each for each in self.app.feed.rows if each.name == name]
        return next((each for each in named if each.state is not State.DONE), named[0])

    async def is_in(self, name: str, state: State) -> None:
        """Wait until the row of a task has a state."""

        def holds() -> bool:
            return any(row.name == name and row.state is state for row in self.app.feed.rows)

        await self.until(holds, f"{name} {state}")

    async def stands_on(self, name: str) -> None:
        """Put the cursor on a row, by its number."""
        key = self.row(name).key
        number = self.home.home.slots.number_of(key)
        assert number, f"{name} has no number:\n{self.shown()}"
        await self.press(str(number))
        assert self.home.home.cursor == key
