"""The terminal's screen of a task, driven by keys, and read as text."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from textual.pilot import Pilot

from siding.faces.tui.app import Options, SidingApp
from siding.faces.tui.places.task.place import TaskPlace
from siding.faces.tui.rows.styles import Look
from siding.feed.addresses import Address
from unit.faces.tui.apps import screen_text

from ..undo.desk import Desk

_LONGEST_S = 60.0
_USUAL = Look()


class TaskScreen:
    """The screen of a desk's task. Use it within `shown`."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.place: TaskPlace
        self._pilot: Pilot[int]

    @asynccontextmanager
    async def shown(
        self, rest: str = "", hunk: str = "", size: tuple[int, int] = (100, 30), look: Look = _USUAL
    ) -> AsyncIterator["TaskScreen"]:
        """Show the task until the block ends."""
        project = self.desk.project
        address = Address(project.layout.root.name, self.desk.task.id, rest, hunk)
        self.place = TaskPlace(address)
        app = SidingApp(project.app, begin=lambda: self.place, options=Options(look=look))
        async with app.run_test(size=size) as pilot:
            self._pilot = pilot
            await self.until(lambda: self.place._opened is not None)
            yield self
            await app.workers.wait_for_complete()
        # A thread of the screen may go on with an act that its person has left, and writes.
        await asyncio.wait_for(asyncio.to_thread(app._acts.shutdown), _LONGEST_S)

    @property
    def app(self) -> SidingApp:
        return self._pilot.app  # type: ignore[return-value]

    def rows(self) -> list[str]:
        """Return the rows of the whole screen as text."""
        return screen_text(self.app)

    def text(self) -> str:
        return "\n".join(self.rows())

    async def until(self, holds: Callable[[], object]) -> None:
        """Wait until something holds; the rows of the screen say what was there instead."""
        end = time.monotonic() + _LONGEST_S
        while not holds():
            assert time.monotonic() < end, self.text()
            await asyncio.sleep(0.01)
        await self._pilot.pause()

    async def sees(self, *texts: str) -> str:
        """Wait until all of these texts are on the screen; return all of it."""
        await self.until(lambda: all(each in self.text() for each in texts))
        return self.text()

    async def gone(self, text: str) -> str:
        """Wait until a text is not on the screen any more."""
        await self.until(lambda: text not in self.text())
        return self.text()

    async def press(self, *keys: str) -> None:
        """Press keys, and wait until all that they began is done."""
        await self._pilot.press(*keys)
        await self._pilot.pause()

    async def at_width(self, columns: int) -> None:
        """Give the screen another width."""
        await self._pilot.resize_terminal(columns, 30)
        await self._pilot.pause()

    async def done(self) -> str:
        """Wait until all work in threads has ended; return the screen."""
        await self._pilot.pause()
        await self.app.workers.wait_for_complete()
        await self._pilot.pause()
        return self.text()

    async def does(self, key: str, shows: str, said: str) -> None:
        """Press the key of an act, see what it would do, do it, and see what was done."""
        await self.press(key)
        await self.sees(shows, "enter do it")
        await self.press("enter")
        await self.sees(said)
        await self.done()

    async def type(self, text: str) -> None:
        """Put a text into the field, and take it."""
        await self.until(lambda: self.place.typing.has_focus)
        self.place.typing.insert(text)
        await self._pilot.press("enter")
