"""The app around the places: keys, hints, the feed, acts and what they say."""

import asyncio
from pathlib import Path

from textual.events import AppBlur

from siding.faces.tui.app import Options, SidingApp
from siding.faces.tui.places.home.place import HomePlace
from siding.faces.tui.rows.styles import Look, Palette
from siding.feed.addresses import parsed
from siding.feed.model import Change, State
from siding.ground.errors import UsageError
from siding.record.place.wiring import open_app
from unit.faces.tui.apps import GivenSource, SomePlace, app_in, feed, row, screen_text


def test_keys_run_acts_and_the_foot_shows_them(tmp_path: Path) -> None:
    place = SomePlace()

    async def go() -> None:
        app = app_in(tmp_path, place)
        async with app.run_test(size=(60, 12)) as pilot:
            await pilot.press("n", "x", "n", "x", "x")
            await app.workers.wait_for_complete()
            assert place.done == ["next", "next", "stop"]
            lines = screen_text(app)
            assert lines[-2].startswith("n next  x x stop")
            assert lines[-2].endswith("? keys")
            await pilot.click(place.foot, offset=(1, 0))
            assert place.done[-1] == "next"

    asyncio.run(go())


def test_the_feed_reaches_the_place_on_top_and_eyes_reach_the_feed(tmp_path: Path) -> None:
    place, source = SomePlace(), GivenSource()

    async def go() -> None:
        app = app_in(tmp_path, place, source)
        async with app.run_test() as pilot:
            source.given.put(feed(row("a", State.WAITS)))
            source.given.put(Change(epoch=1, seq=2, rows=(row("b"),)))
            while len(app.feed.rows) < 2:
                await asyncio.sleep(0.01)
            assert [each.key for each in place.feeds[-1].rows] == ["a", "b"]
            assert place.foot.status == "1 wait, 1 run"
            app.post_message(AppBlur())
            await pilot.pause()
            assert source.shown[-1] == (frozenset(), False)

    asyncio.run(go())


def test_an_act_that_fails_says_what_and_what_to_do(tmp_path: Path) -> None:
    place = SomePlace()
    got: list[int] = []

    def fails() -> int:
        raise UsageError("the task is busy", hint="wait for it")

    async def go() -> None:
        app = app_in(tmp_path, place)
        async with app.run_test(size=(60, 12)) as pilot:
            app.work(lambda: 7, then=got.append)
            app.work(fails, then=got.append)
            await app.workers.wait_for_complete()
            await pilot.pause()
            assert got == [7]
            assert place.foot.said == "the task is busy\nwait for it"
            await pilot.press("n")
            assert place.foot.said == ""

    asyncio.run(go())


def test_without_unicode_every_character_is_ascii_and_no_column_moves(tmp_path: Path) -> None:
    wide = row("b")._replace(name="größe 漢字 · …")

    async def at(columns: int) -> str:
        siding = open_app(env={"SIDING_HOME": str(tmp_path)}, cwd=tmp_path)
        options = Options(look=Look(Palette.SIXTEEN, is_ascii=True))
        source = GivenSource()
        app = SidingApp(siding, begin=HomePlace, source=lambda: source, options=options)
        async with app.run_test(size=(columns, 24)) as pilot:
            source.given.put(feed(row("a", State.WAITS), wide))
            while not app.feed.rows:
                await asyncio.sleep(0.01)
            await pilot.pause()
            return "\n".join(screen_text(app))

    for columns in (60, 300):
        text = asyncio.run(at(columns))
        assert "gr??e ????" in text
        assert text.isascii(), sorted(set(text) - set(map(chr, range(128))))


def test_what_is_of_no_task_is_shown_by_the_one_home_that_there_is(tmp_path: Path) -> None:
    async def go() -> None:
        siding, source = open_app(env={"SIDING_HOME": str(tmp_path)}, cwd=tmp_path), GivenSource()
        at = parsed("siding://q")
        app = SidingApp(siding, source=lambda: source, options=Options(at=at))
        async with app.run_test(size=(60, 12)) as pilot:
            other = row("b")._replace(project="q", address="siding://q/b")
            source.given.put(feed(row("a"), other))
            while not app.feed.rows:
                await asyncio.sleep(0.01)
            await pilot.pause()
            (home,) = (each for each in app.screen_stack if isinstance(each, HomePlace))
            assert home.home.cursor == "b"
            app.push_screen(SomePlace())
            await pilot.pause()
            app.open_address("siding://p")
            await pilot.pause()
            assert app.screen is home
            assert home.home.cursor == "a"
            app.open_address("siding://none")
            assert "nothing that is listed" in home.foot.said

    asyncio.run(go())
