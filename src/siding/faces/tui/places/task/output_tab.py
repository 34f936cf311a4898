"""The tab of the output of a step, or of a run that lives: it follows at the end."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.timer import Timer

from siding.faces.tui.keys import Key
from siding.faces.tui.places.task.keys import OF_OUTPUT
from siding.faces.tui.places.task.outputs import (
    Grown,
    Shown,
    beside,
    grown,
    is_error,
    newest,
    read,
)
from siding.faces.tui.places.task.tab import Tab, TaskPage
from siding.faces.tui.rows.base import Rows
from siding.faces.tui.rows.output import TextLines
from siding.faces.tui.rows.transcript import Note, Output, Transcript
from siding.faces.tui.text import inert
from siding.ground.errors import counted

_LOOK_S = 0.25  # how often a run that lives is looked at while it is on the screen


class OutputTab(Tab):
    """Shows what a program printed."""

    NAME = "output"
    KEYS: ClassVar[tuple[Key, ...]] = OF_OUTPUT

    def __init__(self, page: TaskPage) -> None:
        super().__init__(page)
        self.view = Transcript(id="printed")
        self.wanted = ""  # a step, or a run; "" for the newest
        self.shown: Shown | None = None
        self._timer: Timer | None = None
        self._looking = False
        self._nothing = False

    def compose(self) -> ComposeResult:
        yield self.view

    @property
    def rows(self) -> Rows:
        return self.view

    def status(self) -> str:
        """Return which run it is, whether it lives, and how many lines there are."""
        if self.shown is None:
            return "no run of this task has an output yet" if self._nothing else "reading"
        lines = sum(len(each.lines) for each in self.shown.streams)
        many = counted(lines, "line") if self.shown.streams else "its last screen: a for attach"
        lives = "lives, " if self.shown.lives else ""
        return f"{lives}{many}  {inert(self.shown.title.partition(chr(10))[0])}"

    # Reading

    def show_step(self, wanted: str) -> None:
        """Show the output of a step, or of a run."""
        self.wanted, self.shown = wanted, None
        self.view.clear()
        self.read()

    def read(self) -> None:
        opened, wanted = self.page.opened, self.wanted

        def work() -> Shown | None:
            named = wanted or newest(opened)
            return read(opened, named) if named else None

        def then(shown: Shown | None) -> None:
            if wanted == self.wanted:
                self._take(shown)

        self.page.port.work(work, then=then)

    def _take(self, shown: Shown | None) -> None:
        self.shown = shown
        self._nothing = shown is None
        self.view.clear()
        if shown is not None:
            self._put(shown)
            self.view.go_to_end() if shown.lives or shown.screen else self.view.go_to_row(0)
        self._follow()
        self.page.told()

    def _put(self, shown: Shown) -> None:
        if shown.screen:
            self.view.put("note", Note("the last screen of a program that draws; a for attach"))
            self.view.put("screen", Output(TextLines(shown.screen)))
            return
        for each in shown.streams:
            if len(shown.streams) > 1:
                self.view.put(f"name-{each.name}", Note(f"--- {each.name}"))
            self.view.put(each.name, Output(each.lines))
        if not shown.lives and not any(len(each.lines) for each in shown.streams):
            self.view.put("empty", Note("it printed nothing"))

    def _follow(self) -> None:
        lives = self.shown is not None and self.shown.lives
        if lives and self._timer is None and self.display:
            self._timer = self.set_interval(_LOOK_S, self._look)
        elif self._timer is not None and not (lives and self.display):
            self._timer.stop()
            self._timer = None

    def _look(self) -> None:
        """Read how much there is now; the next look begins when this one has ended."""
        shown, opened = self.shown, self.page.opened
        if shown is None or self._looking or not self.display:
            return
        self._looking = True

        def work() -> Grown:
            try:
                return grown(opened, shown.step)
            finally:
                self._looking = False

        def then(found: Grown) -> None:
            if self.shown is shown:
                self._grow(shown, found)

        self.page.port.work(work, then=then)

    def _grow(self, shown: Shown, found: Grown) -> None:
        if shown.screen and found.lives:
            return  # drawing it anew costs more than a look; `changed` and r do it
        missing = len(found.spans) > 1 and found.spans[1].size and len(shown.streams) == 1
        if not found.lives or (missing and shown.streams[0].name != "terminal"):
            self.read()  # it has ended, or began to write to the other stream
            return
        by_name = dict(zip(("stderr",), found.spans[1:], strict=False))
        for each in shown.streams:
            span = by_name.get(each.name, found.spans[0]) if found.spans else each.source.span
            if span.size > each.source.span.size:
                each.source.span = span
                self.view.grown(each.name)
        self.page.told()

    def changed(self) -> None:
        """Show the newest run once it begins, unless another one was chosen; and a screen anew."""
        shown = self.shown
        is_new = not self.wanted and (shown is None or not shown.lives)
        if is_new or (shown is not None and shown.lives and shown.screen):
            self.read()

    def entered(self) -> None:
        super().entered()
        if self.shown is None:
            self.read()
        self._follow()

    def left(self) -> None:
        self._follow()

    # Acts

    def act_end(self) -> None:
        self.view.go_to_end()

    def act_begin(self) -> None:
        self.view.go_to_row(0)

    def act_next_error(self) -> None:
        self._error(1)

    def act_previous_error(self) -> None:
        self._error(-1)

    def _error(self, step: int) -> None:
        at = self.view.cursor if self.view.cursor >= 0 else self.view.place.item - (step > 0)
        item = at + step
        while 0 <= item < self.view.count:
            if is_error(self.view.text_of(item)):
                self.view.stand_on(item)
                return
            item += step
        self.page.port.say("no line further on speaks of an error")

    def act_older(self) -> None:
        self._beside(-1)

    def act_newer(self) -> None:
        self._beside(1)

    def _beside(self, step: int) -> None:
        opened, number = self.page.opened, 0 if self.shown is None else self.shown.number

        def then(found: str) -> None:
            if found:
                self.show_step(found)
            else:
                self.page.port.say("there is no other run on this side")

        self.page.port.work(lambda: beside(opened, number, step), then=then)
