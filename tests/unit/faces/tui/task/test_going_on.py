"""From a task to the next one that waits, and to the rows of home with a number: one key each."""

import asyncio
from pathlib import Path

import pytest

from siding.asking.views import InboxEntry
from siding.faces.tui.app import SidingApp
from siding.faces.tui.keys import KeyTable
from siding.faces.tui.places.home.place import HomePlace
from siding.faces.tui.places.task.going_on import waiting_from
from siding.faces.tui.places.task.place import TaskPlace
from siding.feed.addresses import Address, parsed
from siding.feed.model import Ask, AskKind, Feed, State
from unit.faces.tui.apps import GivenSource, app_in, feed, row, screen_text

W, R = State.WAITS, State.RUNS
ENTRY = InboxEntry(**dict.fromkeys(InboxEntry._fields, ""))
LOOSE = Ask("q1", AskKind.QUESTION, ENTRY, "", "siding://p/~asks/q1")


def with_loose_ask(*keys: str) -> Feed:
    return feed(*(row(each, W) for each in keys))._replace(asks=(LOOSE,))


def names(here: str, *states: tuple[str, State]) -> tuple[str, str]:
    """Return the tasks to which `n` and `b` lead."""
    given = feed(*(row(key, state) for key, state in states))
    there = [waiting_from(given, f"siding://p/{here}", step) for step in (1, -1)]
    return there[0].rpartition("/")[2], there[1].rpartition("/")[2]


@pytest.mark.parametrize(
    ("here", "states", "led"),
    [
        ("a", (("a", W), ("b", W), ("c", W)), ("b", "c")),
        ("c", (("a", W), ("b", W), ("c", W)), ("a", "b")),
        ("x", (("x", R), ("a", W), ("b", W)), ("a", "b")),
        ("x", (("x", R), ("a", W)), ("a", "a")),
        ("a", (("a", W), ("x", R)), ("", "")),
        ("a", (("a", R), ("x", R)), ("", "")),
        ("", (("a", W),), ("a", "a")),
    ],
)
def test_which_one_is_next(
    here: str, states: tuple[tuple[str, State], ...], led: tuple[str, str]
) -> None:
    assert names(here, *states) == led


def test_what_asks_without_a_task_comes_last() -> None:
    given = with_loose_ask("a", "b")
    led = [waiting_from(given, f"siding://p/{here}", 1) for here in ("a", "b", "~asks/q1")]
    assert led == ["siding://p/b", LOOSE.address, "siding://p/a"]


def shown(app: SidingApp) -> str:
    place = app.place
    assert place is not None
    return "home" if isinstance(place, HomePlace) else str(place.address).rpartition("/")[2]


def test_keys_lead_from_task_to_task_and_back_leads_home(tmp_path: Path) -> None:
    source = GivenSource()

    async def go() -> None:
        app = app_in(tmp_path, HomePlace(), source)
        async with app.run_test(size=(100, 30)) as pilot:
            source.given.put(feed(row("a", W), row("b", W), row("c", R)))
            while not app.feed.rows:
                await pilot.pause(0.01)
            await pilot.press("enter")
            for keys, there in (
                (("n",), "b"),
                (("n",), "a"),
                (("b",), "b"),
                (("g", "n"), "a"),
                (("g", "b"), "b"),
                (("3",), "c"),
                (("n",), "a"),
                (("9",), "a"),
                (("1",), "a"),
                (("2",), "b"),
            ):
                await pilot.press(*keys)
                await pilot.pause()
                assert (keys, shown(app)) == (keys, there)
                assert len(app.screen_stack) == 2
            await pilot.press("9")
            assert "no row has the number 9" in "\n".join(screen_text(app))
            await pilot.press("escape")
            assert shown(app) == "home"
            assert len(app.screen_stack) == 1
            source.given.put(with_loose_ask("a"))
            while not app.feed.asks:
                await pilot.pause(0.01)
            await pilot.press("enter", "n")
            await pilot.pause()
            assert shown(app) == "home"
            assert len(app.screen_stack) == 1
            home = app.place
            assert isinstance(home, HomePlace)
            assert home.home.cursor == "~ask/q1"

    asyncio.run(go())


def test_from_a_task_that_was_opened_alone(tmp_path: Path) -> None:
    source = GivenSource()

    async def go() -> None:
        app = app_in(tmp_path, TaskPlace(Address("p", "x")), source)
        async with app.run_test() as pilot:
            source.given.put(feed(row("x", R), row("a", W)))
            while not app.feed.rows:
                await pilot.pause(0.01)
            await pilot.press("n")
            await pilot.pause()
            assert (shown(app), len(app.screen_stack)) == ("a", 2)
            await pilot.press("n")
            assert "nothing else waits for you" in "\n".join(screen_text(app))
            await pilot.press("q")
            await pilot.pause()
            assert shown(app) == "x"
            await pilot.press("q")
            await pilot.pause()
            assert app.return_code == 0

    asyncio.run(go())


def test_a_search_has_the_keys_as_long_as_it_is_there(tmp_path: Path) -> None:
    place = TaskPlace(parsed("siding://p/x"))

    def acts(table: KeyTable) -> tuple[str, str, str]:
        by_key = {key: each.act for each in table.entries for key in each.keys}
        return by_key["n"], by_key["g n"], by_key["escape"]

    async def go() -> None:
        async with app_in(tmp_path, place).run_test():
            assert acts(place.key_table) == ("next", "next", "back")
            place.patch.lines.word = "some"
            assert acts(place.key_table) == ("next_hit", "next", "end_search")
            place.act_end_search()
            assert acts(place.key_table) == ("next", "next", "back")

    asyncio.run(go())


def test_the_settings_change_a_key_by_the_name_that_the_page_has(tmp_path: Path) -> None:
    place = TaskPlace(parsed("siding://p/x"))

    async def go() -> None:
        app = app_in(tmp_path, place)
        app._key_settings = {"task.apply": ("X",), "next": ("f5",)}
        async with app.run_test():
            table = place.key_table
            assert [table.key_of(each) for each in ("apply", "next")] == ["X", "f5"]

    asyncio.run(go())
