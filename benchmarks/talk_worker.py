"""Show a story of so many lines as the terminal's tab of a conversation does, and print how long
more of it took to be on the screen, as JSON.

A story's line goes the whole way: its fold into parts, the parts into rows, and a frame. Reading it
from the file and waiting for the host are not in it.
"""

import asyncio
import gc
import json
import resource
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from benchmarks.widgets_worker import FRAMES, Empty, Frames, Screen, line
from siding.chat.partition import Partition
from siding.faces.tui.places.task.talk.story import Story
from siding.faces.tui.rows.transcript import Transcript

_BEGUN = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)
_CODE = '        self._trace = getattr(self, "_trace", None)  # as {} says in its first line\n'


class Day:
    """A conversation that goes on, and its screen."""

    def __init__(self) -> None:
        self.view = Transcript()
        self.story = Story(self.view)
        self._partition = Partition()
        self._seq = 0

    def add(self, event: str, **fields: Any) -> None:
        """Have one more line of the story on the screen."""
        self._seq += 1
        at = (_BEGUN + timedelta(milliseconds=self._seq)).isoformat()
        self._partition.take({"seq": self._seq, "at": at, "event": event, **fields})
        for shift in self._partition.shifts():
            self.story.take(shift)

    def turn(self, number: int) -> None:
        """Have one turn: a prompt, thoughts, tools with output, words."""
        prompt = f"p{number}"
        self.add("queued", prompt=prompt, text=line(number))
        self.add("sending", prompt=prompt)
        self.add("turn-started", prompt=prompt)
        self.add("thought", text=line(number))
        for call in range(3):
            name = f"{number}.{call}"
            self.add("tool-started", call=name, name="Bash", title=f"make {call}", kind="execute")
            self.add("tool-ended", call=name, text="\n".join(line(n) for n in range(8)))
        self.add("text", text="\n\n".join(line(n) for n in range(4)))
        self.add("turn-ended", how="done")


def _acts(day: Day, what: str) -> Iterator[Callable[[], object]]:
    if what == "append":
        yield from (partial(day.add, "recorded", step=n) for n in range(FRAMES + 10))
    elif what == "call":
        for number in range(FRAMES + 10):
            name = f"new {number}"
            yield partial(day.add, "tool-started", call=name, name="Read", title=name, kind="read")
    else:
        day.add("text", text="```python\n")
        code = "".join(_CODE.format(n) for n in range(2_000))
        pieces = [code[at : at + 12] for at in range(0, len(code), 12)]
        day.add("text", text="".join(pieces[:-1_000]))
        yield from (partial(day.add, "text", text=each) for each in pieces[-1_000:])


def _once(view: Transcript) -> Iterator[Callable[[], object]]:
    """Yield what a person does to all of it: fold, and search for what is not there."""
    keys = view.foldable()
    for number in range(20):
        yield partial(view.fold, keys, bool(number % 2))
    for _ in range(20):
        yield partial(view.search, "nowhere is this")


async def _measure(count: int, size: tuple[int, int]) -> dict[str, object]:
    if not count:
        empty = Empty()
        app = Screen(empty)
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            floor = await Frames(app, empty).of([empty.refresh] * (FRAMES + 10))
        return {"append": floor}
    day = Day()
    turns = 0
    while day.view.count < count:
        day.turn(turns := turns + 1)
    app = Screen(day.view)
    found: dict[str, object] = {}
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        frames = Frames(app, day.view)
        while day.view._measuring is not None and not day.view._measuring.done():
            await asyncio.sleep(0.01)
        for what in ("append", "call", "fence"):
            day.view.go_to_end()
            found[what] = await frames.of(_acts(day, what))
        found["all"] = await frames.of(_once(day.view))
        found["rss_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        found["lines"] = day.view.count
    return found


def main(words: list[str]) -> int:
    """Measure: how many lines, width, height."""
    gc.disable()
    count, width, height = (int(each) for each in words)
    print(json.dumps(asyncio.run(_measure(count, (width, height)))))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
