"""A check that hangs: its key ends it at once with all that it has started; the search goes on."""

import asyncio
import os
import time
from pathlib import Path

import pytest

from siding.bisect.search import Verdict
from siding.bisect.store import read_search

from ..undo.desk import Desk
from .task_screen import TaskScreen

_LONGEST_S = 30.0


class Hanging:
    """A check whose second look hangs: in itself, in a child, and in a session of its own."""

    def __init__(self, desk: Desk) -> None:
        self._looks = desk.sandbox.directory / "looks"
        self._mark = f"6{int.from_bytes(os.urandom(6))}"  # seconds of a sleep, as no other has them
        wait = f"trap '' TERM INT HUP; sleep {self._mark}"
        self.check = (
            f"echo >> {self._looks}; test $(wc -l < {self._looks}) != 2 ||"
            f' {{ setsid sh -c "{wait} & {wait}" & {wait}; }}; test ! -e bad.txt'
        )

    @property
    def looks(self) -> int:
        return len(self._looks.read_text().split("\n")) - 1

    def sleeping(self) -> int:
        """Return how many processes of the check sleep."""
        wanted = ["sleep", self._mark]
        return sum(_words(each) == wanted for each in Path("/proc").iterdir())

    def all_gone(self) -> bool:
        """Wait until none of its processes is there; tell whether it came to that."""
        end = time.monotonic() + _LONGEST_S
        while self.sleeping() and time.monotonic() < end:
            time.sleep(0.02)
        return not self.sleeping()


def _words(process: Path) -> list[str]:
    try:
        return (process / "cmdline").read_bytes().decode("utf-8", "replace").split("\0")[:-1]
    except OSError:
        return []


@pytest.fixture
def hanging(desk: Desk) -> Hanging:
    desk.shell("echo one > one.txt")
    desk.shell("echo bad > bad.txt")
    desk.shell("echo two > two.txt")
    return Hanging(desk)


def known(desk: Desk) -> list[Verdict]:
    search = read_search(desk.project.task_layout(desk.task.id).bisect_json)
    assert search is not None
    return [look.verdict for look in search.looks]


def test_its_key_ends_the_check_and_the_search_goes_on(
    desk: Desk, screen: TaskScreen, hanging: Hanging
) -> None:
    async def work() -> None:
        async with screen.shown():
            await screen.press("B")
            await screen.type(hanging.check)
            await screen.until(lambda: hanging.sleeping() == 3)
            await screen.sees("checking   escape ends it")
            await screen.press("escape")
            await screen.sees("the search was ended: B goes on from what is known")
            assert hanging.all_gone()
            assert (len(known(desk)), hanging.looks) == (1, 2)
            await screen.press("B")
            await screen.until(lambda: screen.place.typing.has_focus)
            assert screen.place.typing.text == hanging.check
            await screen.press("enter")
            await screen.sees("step 0002 broke it")
            assert hanging.looks == len(known(desk)) + 1
            await screen.press("escape", "B")
            await screen.until(lambda: screen.place.typing.has_focus)
            assert screen.place.typing.text == ""

    asyncio.run(work())


def test_the_screen_ends_without_waiting_for_the_check(
    desk: Desk, screen: TaskScreen, hanging: Hanging
) -> None:
    async def work() -> None:
        async with screen.shown():
            await screen.press("B")
            await screen.type(hanging.check)
            await screen.until(lambda: hanging.sleeping() == 3)
            await screen.press("ctrl+q")

    asyncio.run(work())
    assert hanging.all_gone()
    assert len(known(desk)) == 1


def test_a_look_by_eye_ends_with_the_screen(desk: Desk, screen: TaskScreen) -> None:
    desk.shell("echo one > one.txt")

    async def work() -> None:
        async with screen.shown():
            await screen.press("B", "enter")
            await screen.sees("does it hold there?")
            await screen.press("ctrl+q")

    asyncio.run(work())
