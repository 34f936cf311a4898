"""A screen with one widget on it, without a terminal, and what stands on it as text."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widget import Widget

from unit.faces.tui.apps import screen_text

Act = Callable[["Screen"], Awaitable[None]]


class _App(App[None]):
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, widget: Widget) -> None:
        super().__init__()
        self._widget = widget

    def compose(self) -> ComposeResult:
        yield self._widget


class Screen:
    """What a test does with the screen."""

    def __init__(self, pilot: Pilot[None]) -> None:
        self.pilot = pilot

    async def rows(self) -> list[str]:
        """Return the rows on the screen, without what is blank at their ends."""
        await self.pilot.pause()
        return screen_text(self.pilot.app)

    async def resize(self, width: int, height: int) -> None:
        await self.pilot.resize_terminal(width, height)

    async def measured(self) -> None:
        """Wait until all heights are measured."""
        widget: Any = self.pilot.app.query_one("Rows")
        while widget._measuring is not None and not widget._measuring.done():
            await self.pilot.pause(0.01)


def on_screen(widget: Widget, act: Act, width: int = 40, height: int = 10) -> None:
    """Show a widget on a screen of its own and do something with it."""

    async def shown() -> None:
        async with _App(widget).run_test(size=(width, height)) as pilot:
            await act(Screen(pilot))

    asyncio.run(shown())
