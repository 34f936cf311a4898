"""An app around places that are made for a test, with a feed that the test gives."""

import queue
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, ClassVar

from rich.cells import cell_len
from textual.app import App, ComposeResult
from textual.widgets import Static

from siding.faces.tui.app import SidingApp
from siding.faces.tui.keys import Key
from siding.faces.tui.place import Place
from siding.faces.tui.rows.styles import Palette
from siding.feed.addresses import Address
from siding.feed.model import Change, Feed, Row, RowKind, State
from siding.record.place.wiring import open_app


class GivenSource:
    """A feed that a test gives item by item."""

    def __init__(self) -> None:
        self.given: queue.Queue[Feed | Change | None] = queue.Queue()
        self.shown: list[tuple[frozenset[str], bool | None]] = []

    def items(self) -> Iterator[Feed | Change]:
        while (item := self.given.get()) is not None:
            yield item

    def show(self, addresses: Collection[str], *, focused: bool | None) -> None:
        self.shown.append((frozenset(addresses), focused))

    def close(self) -> None:
        self.given.put(None)


class SomePlace(Place):
    """A place with two acts that counts them."""

    NAME = "some"
    KEYS: ClassVar[tuple[Key, ...]] = (
        Key("next", ("n",), "the next one", "next"),
        Key("stop", ("x x",), "stop it", "stop"),
    )

    def __init__(self, address: Address | None = None) -> None:
        super().__init__(address)
        self.done: list[str] = []
        self.feeds: list[Feed] = []

    def body(self) -> ComposeResult:
        yield Static("the place")

    def take_feed(self, feed: Feed) -> None:
        self.feeds.append(feed)

    def act_next(self) -> None:
        self.done.append("next")

    async def act_stop(self) -> None:
        self.done.append("stop")


def row(key: str, state: State = State.RUNS) -> Row:
    return Row(
        key=key,
        kind=RowKind.TASK,
        state=state,
        project="p",
        project_name="p",
        id=key,
        name=f"task {key}",
        what="",
        since="",
        address=f"siding://p/{key}",
    )


def feed(*rows: Row) -> Feed:
    return Feed(epoch=1, seq=1, rows=rows, asks=(), problems=(), projects=1)


def app_in(home: Path, place: Place | None = None, source: GivenSource | None = None) -> SidingApp:
    siding = open_app(env={"SIDING_HOME": str(home)}, cwd=home)
    begin = place or SomePlace()
    return SidingApp(siding, begin=lambda: begin, source=None if source is None else lambda: source)


def screen_text(app: App[Any]) -> list[str]:
    """Return the lines of the whole screen, without what is blank at their ends."""
    strips = app.screen._compositor.render_strips()
    return ["".join(segment.text for segment in strip).rstrip() for strip in strips]


def checked(app: SidingApp, width: int) -> list[str]:
    """Return the lines of the screen, each of which is as wide as it and has what it may have."""
    strips = app.screen._compositor.render_strips()
    for strip in strips:
        text = "".join(segment.text for segment in strip)
        assert cell_len(text) == width, text
        if app.look.is_ascii:
            assert text.isascii(), text
        if app.look.palette is Palette.NONE:
            for segment in strip:
                for colour in (segment.style.color, segment.style.bgcolor) if segment.style else ():
                    assert colour is None or colour.is_default, (segment.text, colour)
    return screen_text(app)
