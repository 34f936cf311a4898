"""Home, its card and its help at every width, without colours, and without Unicode."""

import asyncio
import re
from pathlib import Path

import pytest
from rich.cells import cell_len

from siding.faces.tui.app import Options, SidingApp
from siding.faces.tui.places.home.place import HomePlace
from siding.faces.tui.rows.styles import Look, Palette
from siding.faces.tui.text import in_ascii
from siding.feed.model import AskKind, State
from siding.record.place.wiring import open_app
from unit.faces.tui.apps import GivenSource, checked
from unit.faces.tui.home.feeds import NOW, ask, feed, row

AGE = re.compile(r" 2m( |$)")
WIDTHS = (60, 80, 100, 200, 300)
LOOKS = (
    Look(Palette.DARK),
    Look(Palette.SIXTEEN),
    Look(Palette.NONE),
    Look(Palette.NONE, is_ascii=True),
)
# Wide letters, joined pictures, a flag, marks above letters, and text from right to left.
NAMES = (
    "漢字の名前",
    "\U0001f469\u200d\U0001f469\u200d\U0001f467 family \U0001f3f3\ufe0f\u200d\U0001f308",
    "e\u0301te\u0301 no\u0308",
    "שלום עולם",
    "مرحبا",
    "plain",
)


@pytest.mark.parametrize("look", LOOKS, ids=lambda look: f"{look.palette}-{look.is_ascii}")
def test_nothing_is_clipped_or_moved(tmp_path: Path, look: Look) -> None:
    asyncio.run(_at_all_widths(tmp_path, look))


async def _at_all_widths(home: Path, look: Look) -> None:
    siding = open_app(env={"SIDING_HOME": str(home)}, cwd=home)
    source = GivenSource()
    place = HomePlace(now_s=lambda: NOW)
    app = SidingApp(siding, begin=lambda: place, source=lambda: source, options=Options(look=look))
    rows = [row(f"r{n}", name=name, what=name, agent="codex") for n, name in enumerate(NAMES)]
    waits = row("w", State.WAITS, asks=("q",), name="漢字 waits", what="w")
    asked = ask("q", "w", AskKind.FAILURE, "exit 3: 漢字 npm test")
    asked = asked._replace(entry=asked.entry._replace(task_name="a long name 漢字 " * 4))
    async with app.run_test(size=(WIDTHS[0], 30)) as pilot:
        source.given.put(feed(waits, *rows, asks=(asked,)))
        while not app.feed.rows:
            await asyncio.sleep(0.01)
        for width in WIDTHS:
            await pilot.resize_terminal(width, 30)
            await pilot.pause()
            lines = checked(app, width)
            ages = {cell_len(line[: at.start()]) for line in lines if (at := AGE.search(line))}
            assert len(ages) == 1, lines  # the column of ages is one, whatever is before it
            hints = [f"{key.keys[0]} {key.hint}" for key in place.key_table.entries if key.hint]
            assert all(each in hints for each in lines[-2].split("  ") if each), lines[-2]
            assert lines[-2].endswith("? keys")
            for keys, words in (
                ((), "ctrl+y or tab answers"),
                (("ctrl+y",), "1-3 answer · esc leaves it open"),
            ):
                await pilot.press(*keys)
                await pilot.pause()
                shown = " ".join(" ".join(checked(app, width)).split())
                assert (in_ascii(words) if look.is_ascii else words) in shown, shown
            while place.pane.arming.is_armed:  # it takes no key just after another one
                await asyncio.sleep(0.2)
                await pilot.press("escape")
            await pilot.press("?")
            await pilot.pause()
            shown = "\n".join(checked(app, width))
            assert all(key in shown for key in ("keys: ", "enter", "ctrl+y")), shown
            await pilot.press("escape")
            await pilot.pause()
