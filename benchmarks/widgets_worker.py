"""Draw frames of one widget of the terminal and print how long each took, as JSON.

A frame is what a key costs: the scroll, Textual's compositor, and the text with its escape
sequences. Nothing is written to a terminal. Garbage is collected between frames, as the app does.
"""

import asyncio
import gc
import json
import resource
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from random import Random

from textual.app import App, ComposeResult
from textual.geometry import Region
from textual.pilot import Pilot
from textual.scroll_view import ScrollView
from textual.strip import Strip

from siding.faces.tui.collector import Collector
from siding.faces.tui.rows.base import Rows
from siding.faces.tui.rows.list import Column, Entry, ListView, plain
from siding.faces.tui.rows.output import TextLines
from siding.faces.tui.rows.patch import PatchRow, PatchView
from siding.faces.tui.rows.transcript import Note, Output, Prompt, Said, Tool, Transcript
from siding.faces.tui.text import Span

FRAMES = 150
_WORDS = "the hook is called once for each request before the view and may answer in its place"
_WIDE = "日本語のテキスト é à ü"
_CODE = '        self._trace = getattr(self, "_trace", None)  # as {} says in its first line'


Took = tuple[float, float]  # milliseconds by the clock, and of the processor


def _now() -> tuple[int, int]:
    return time.perf_counter_ns(), time.thread_time_ns()


def _since(begun: tuple[int, int]) -> Took:
    clock, processor = _now()
    return (clock - begun[0]) / 1e6, (processor - begun[1]) / 1e6


class Empty(ScrollView):
    """The floor: a widget whose rows are there already."""

    DEFAULT_CSS = "Empty { overflow: hidden; scrollbar-size: 0 0; }"

    def render_lines(self, crop: Region) -> list[Strip]:
        return [Strip.blank(crop.width)] * crop.height


class Screen(App[None]):
    """One widget, and nothing else."""

    ENABLE_COMMAND_PALETTE = False

    def __init__(self, widget: ScrollView) -> None:
        super().__init__()
        self._shown = widget

    def compose(self) -> ComposeResult:
        yield self._shown


def line(number: int) -> str:
    """Return a line of the mix: one of ten is wide, one of four is long."""
    words = _WORDS[: 20 + number * 7 % 60]
    if number % 10 == 0:
        return f"{number} {_WIDE} {words}"
    return f"{number} {words} {_WORDS if number % 4 == 0 else ''}"


def transcript(count: int) -> Transcript:
    """Return prompts, words of an agent, and tools that are open."""
    view = Transcript()
    made = number = 0
    while made < count:
        size = min(40, count - made)
        texts = [line(made + at) for at in range(size)]
        kind = number % 3
        if kind == 0:
            view.put(f"{number}", Said("\n\n".join(texts[: size // 2 + 1])))
        elif kind == 1:
            coloured = [
                f"\x1b[3{at % 8}m{text[:9]}\x1b[0m{text[9:]}" for at, text in enumerate(texts)
            ]
            view.put(f"{number}", Tool("Bash", "pytest", "5 passed", output=TextLines(coloured)))
            view.toggle(f"{number}")
        else:
            view.put(f"{number}", Output(TextLines(texts)))
        made = view.count
        number += 1
    return view


class Patch(Sequence[PatchRow]):
    """A patch of hunks of 40 lines; every line has six spans of colour, and some a comment."""

    def __init__(self, count: int) -> None:
        self._count = count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, item: int) -> PatchRow:  # type: ignore[override]
        place = item % 43
        if place == 0:
            return PatchRow("hunk", None, None, f"@@ {item},40 → {item},40  class Scaffold")
        if place == 21:
            return PatchRow("comment", None, None, "keyword only, please; 14 callers pass it so")
        kind = ("same", "same", "delete", "add")[place % 4] if place > 20 else "same"
        text = _CODE.format(item) + (_WIDE if item % 10 == 0 else "")
        spans = [Span(8, 12, "c-keyword"), Span(13, 19, "c-function"), Span(22, 29, "c-builtin")]
        spans += [Span(30, 34, "c-keyword"), Span(36, 44, "c-string"), Span(54, 90, "c-comment")]
        numbers = (item if kind != "add" else None, item if kind != "delete" else None)
        return PatchRow(kind, *numbers, text, spans)


def listed(count: int) -> ListView:
    """Return rows as Home has them."""
    columns = [Column(2), Column(10, drop=1), Column(20, takes_rest=True), Column(8, drop=2)]
    view = ListView([*columns, Column(6, right=True)])
    view.show([entry(number) for number in range(count)])
    return view


def entry(number: int) -> Entry:
    """Return one row."""
    cells = plain(str(number % 9), "flask", line(number)[:60], "claude", f"{number % 60}m")
    return Entry(str(number), cells, "WAITS" if number < 20 else "RUNS")


MAKE: dict[str, Callable[[int], Rows]] = {
    "transcript": transcript,
    "patch": lambda count: PatchView(Patch(count)),
    "list": listed,
}


class Frames:
    """Draws frames and keeps their times in milliseconds."""

    def __init__(self, app: App[None], view: ScrollView) -> None:
        self._app = app
        self._view = view
        self._collector = Collector()
        self._collector.start()
        self.shown = 0  # characters of the last frame

    async def of(self, acts: Iterable[Callable[[], object]]) -> list[Took]:
        """Return how long each act and its frame took; the first ten are not counted."""
        found = []
        for act in acts:
            begun = _now()
            act()
            self.draw()
            found.append(_since(begun))
            if self.shown < self._view.size.area:
                raise RuntimeError("a frame has fewer characters than the screen")
            await asyncio.sleep(0)
            self._collector.pause(0)
        return found[10:]

    def draw(self) -> None:
        """Draw what Textual draws after a scroll."""
        compositor = self._app.screen._compositor
        self._view.refresh()
        compositor.update_widgets({self._view})
        update = compositor.render_update(simplify=False)
        text = update.render_segments(self._app.console)  # type: ignore[union-attr]
        self.shown = len(text)


def scrolls(view: Rows, how: str) -> Iterator[Callable[[], object]]:
    """Yield scrolls: by a line, by a page, or to anywhere."""
    random = Random(7)
    view.go_to_row(view.rows_total // 2)
    for _ in range(FRAMES + 10):
        if how == "line":
            yield lambda: view.scroll_rows(1)
        elif how == "page":
            yield lambda: view.page(-1) if view.top_row else view.go_to_end()
        else:
            yield lambda: view.go_to_row(random.randrange(view.rows_total))


async def _measure(what: str, count: int, size: tuple[int, int]) -> dict[str, object]:
    begun = time.perf_counter()
    view: ScrollView = Empty() if what == "empty" else MAKE[what](count)
    app = Screen(view)
    found: dict[str, object] = {"made_ms": (time.perf_counter() - begun) * 1e3}
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        frames = Frames(app, view)
        if not isinstance(view, Rows):
            found["line"] = await frames.of([view.refresh] * (FRAMES + 10))
            return found
        while view._measuring is not None and not view._measuring.done():
            await asyncio.sleep(0.01)
        for how in ("line", "page", "jump"):
            found[how] = await frames.of(scrolls(view, how))
        found["rss_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        if isinstance(view, Transcript):
            found |= await _grown(view, frames)
        if size[0] == 100:
            found["resize"] = await _resized(view, frames, pilot)
    return found


async def _grown(view: Transcript, frames: Frames) -> dict[str, object]:
    view.go_to_end()
    times = range(FRAMES + 10)
    notes = [partial(view.put, f"added {n}", Note(line(n))) for n in times]
    found: dict[str, object] = {"append": await frames.of(notes)}
    view.put("grows", Said())
    found["grow"] = await frames.of([partial(view.more, "grows", " word") for _ in times])
    view.put("fence", Said("```python\n"))
    code = "".join(f"{_CODE.format(n)}\n" for n in range(2_000))
    pieces = [code[at : at + 12] for at in range(0, len(code), 12)]
    for piece in pieces[:-1_000]:
        view.more("fence", piece)
    found["fence"] = await frames.of(
        [partial(view.more, "fence", each) for each in pieces[-1_000:]]
    )
    view.put("last", Prompt("and keep the keyword"))
    return found


async def _resized(view: Rows, frames: Frames, pilot: Pilot[None]) -> list[Took]:
    """Return the times from the news of another width to a right screen: 100 to 60 and back."""
    found = []
    view.go_to_row(view.rows_total // 2)
    for width in (60, 100) * 5:
        begun = _now()
        resized = asyncio.ensure_future(pilot.resize_terminal(width, view.size.height))
        while view.size.width != width:
            await asyncio.sleep(0)
        frames.draw()
        found.append(_since(begun))
        await resized
        if view.render_lines(Region(0, 0, width, 1))[0].cell_length != width:
            raise RuntimeError("the screen has rows of the old width")
    return found


def main(words: list[str]) -> int:
    """Measure one widget: what, how many items, width, height."""
    gc.disable()
    what, count, width, height = words[0], int(words[1]), int(words[2]), int(words[3])
    print(json.dumps(asyncio.run(_measure(what, count, (width, height)))))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
