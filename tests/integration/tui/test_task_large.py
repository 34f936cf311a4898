"""A large file on the screen of a task: no turn of the loop reads much of it."""

import asyncio
import threading

import pytest

from siding.faces.tui.places.task.source import Shape
from siding.record.recording.recorded_patches import Row

from ..undo.desk import Desk
from .task_screen import TaskScreen

_LINES = 60_000
_NEW = 20_000  # lines that come before them
_MOST = 6_000  # rows that one turn of the loop reads


class Turns:
    """Counts the rows that each turn of the loop reads."""

    def __init__(self) -> None:
        self.most = self._now = 0
        self._loop = threading.get_ident()

    def row(self) -> None:
        if threading.get_ident() == self._loop:
            self._now += 1

    async def watch(self) -> None:
        while True:
            self.most = max(self.most, self._now)
            self._now = 0
            await asyncio.sleep(0)


def test_the_line_under_the_cursor_is_found_again_without_stopping_the_screen(
    desk: Desk, screen: TaskScreen, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"line {number}" for number in range(_LINES)]
    desk.write("large.txt", "\n".join(texts))
    turns, read = Turns(), Shape.row

    def counted(shape: Shape, file: int, number: int) -> Row:
        turns.row()
        return read(shape, file, number)

    monkeypatch.setattr(Shape, "row", counted)

    def under_cursor() -> str:
        patch = screen.place.patch
        return patch.source[patch.lines.cursor].text

    async def work() -> None:
        watch = asyncio.create_task(turns.watch())
        async with screen.shown():
            await screen.sees(f"1 file +{_LINES}")
            patch = screen.place.patch
            patch._go_to(patch.source.item_of(0, row=50_001))
            assert under_cursor() == "line 50000"
            for time in (1, 2):
                new = [f"new {number}" for number in range(_NEW * time)]
                desk.write("large.txt", "\n".join([*new, *texts]))
                await screen.press("r")
                await screen.sees(f"+{_LINES + _NEW * time}")
                await screen.until(lambda: under_cursor() == "line 50000")
                await screen.sees("+ line 50000")
            await screen.press("c")
            await screen.type("far down")
            await screen.sees("far down", "you, draft")
            assert under_cursor() == "line 50000"
            watch.cancel()

    asyncio.run(work())
    assert 0 < turns.most < _MOST
