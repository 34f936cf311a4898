"""A place: one full screen of the terminal, with its keys and the foot below it.

A place says in `KEYS` what can be done in it; each entry has a method `act_NAME`. Keys that the
focused widget does not take come here. Nothing here has a binding of Textual.
"""

import inspect
import time
from collections.abc import Collection
from typing import ClassVar, cast

from textual.app import ComposeResult
from textual.events import Key as KeyEvent
from textual.screen import Screen

from siding.faces.tui.foot import Foot
from siding.faces.tui.keys import Key, KeyTable, spoken
from siding.faces.tui.ports import AppPort
from siding.faces.tui.rows.styles import Look
from siding.feed.addresses import Address
from siding.feed.model import Feed


class Place(Screen[None]):
    """Base of all places."""

    NAME: ClassVar[str] = ""  # in settings: `home.next`
    TITLE = None
    KEYS: ClassVar[tuple[Key, ...]] = ()
    AUTO_FOCUS = "*"
    CSS = ""

    def __init__(self, address: Address | None = None) -> None:
        super().__init__()
        self.address = address
        self._keys: KeyTable | None = None
        self.foot = Foot(self.run_key)

    @property
    def port(self) -> AppPort:
        """The app, as places see it."""
        return cast("AppPort", self.app)

    @property
    def key_table(self) -> KeyTable:
        """The keys of this place, with what the settings change."""
        if self._keys is None:
            self._keys = self.port.table_of(self.NAME, self.KEYS)
        return self._keys

    # What a place says of itself.

    def body(self) -> ComposeResult:
        """Yield the widgets above the foot."""
        yield from ()

    def take_feed(self, feed: Feed) -> None:
        """Show the feed, which has changed. Called when the place is shown, and on each change."""

    def use(self, look: Look) -> None:
        """Draw with other colours. Called when the place is shown, and when they change."""

    def is_at(self, address: Address) -> bool:
        """Tell whether this place can show an address; `go_to` then does."""
        return address == self.address

    def go_to(self, address: Address) -> None:
        """Show another address of this place: a step, a hunk."""
        self.address = address

    def addresses(self) -> Collection[str]:
        """Return the addresses of what is on the screen now."""
        return () if self.address is None else (str(self.address),)

    def task_address(self) -> Address | None:
        """Return the address of the task that keys of any place are about; None for none."""
        return self.address

    def status(self) -> str:
        """Return what the line of the status begins with; "" for nothing."""
        return ""

    def may_leave(self) -> bool:
        """Tell whether `back` may leave this place now; an overlay of its own may close instead."""
        return True

    def typed(self) -> None:
        """Note that a key or a paste came, before any widget gets it."""

    # What holds for each of them.

    def compose(self) -> ComposeResult:
        yield from self.body()
        yield self.foot

    def on_mount(self) -> None:
        """Show the hints."""
        self.use(self.port.look)
        self.foot.use(self.port.look)
        self.foot.show_hints(self.key_table.hints())

    def on_screen_resume(self) -> None:
        """Show the newest feed: changes while another place was on top were not drawn here."""
        self.take_feed(self.port.feed)
        self.port.show(self.addresses())

    async def on_key(self, event: KeyEvent) -> None:
        """Run the act of a key that no widget took."""
        self.foot.hush()
        entry = self.key_table.press(spoken(event.key, event.character), time.monotonic())
        waits = self.key_table.is_waiting(time.monotonic())
        if entry is None and not waits:
            return
        event.stop()
        event.prevent_default()
        if entry is not None:
            self.run_key(entry)

    def run_key(self, key: Key) -> None:
        """Run the act of an entry of the table: here, else the one that is the same everywhere."""
        act = getattr(self, f"act_{key.act}", None)
        if act is None:
            self.port.run_key(key)
            return
        found = act()
        if inspect.isawaitable(found):
            self.run_worker(_awaited(found), exclusive=False)


async def _awaited(found: object) -> None:
    if inspect.isawaitable(found):
        await found
