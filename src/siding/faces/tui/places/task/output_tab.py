"""The tab of the output of a step, or of a run that lives: it follows at the end."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.timer import Timer

from siding.faces.tui.keys import Key
from siding.faces.tui.places.task.finding import Finding
from siding.faces.tui.places.task.keys import OF_OUTPUT
from siding.faces.tui.places.task.outputs import (
    Grown,
    Shown,
    beside,
    error,
    grown,
    legs,
    newest,
    read,
    read_on,
)
from siding.faces.tui.places.task.tab import Tab, TaskPage
from siding.faces.tui.rows.base import Rows
from siding.faces.tui.rows.output import TextLines
from siding.faces.tui.rows.searching import Hit, Search, Wanted, word
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
        self._finding = Finding(page.told)
        self._stood: tuple[object, ...] = ()  # where the person was when the search began
        self._waiting: Callable[[], None] | None = None  # a search, until everything is read

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
        if self.shown.unread:
            share = 100 - self.shown.unread * 100 // max(1, self.shown.size)
            many += f", reading, {min(share, 99)} %"
        if self._waiting is not None or self._finding.said:
            many += f", {self._finding.said or 'then searching, escape stops it'}"
        lives = "lives, " if self.shown.lives else ""
        return f"{lives}{many}  {inert(self.shown.title.partition(chr(10))[0])}"

    # Reading

    def show_step(self, wanted: str) -> None:
        """Show the output of a step, or of a run."""
        self.wanted, self.shown = wanted, None
        self._stop_search()
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
        self._stop_search()
        self.view.clear()
        if shown is not None:
            self._put(shown)
            self.view.go_to_end() if shown.lives or shown.screen else self.view.go_to_row(0)
            self._read_on(shown)
        self._follow()
        self.page.told()

    def _read_on(self, shown: Shown) -> None:
        """Read the rest of a large output, a slice at a time, while its begin is shown."""
        if not shown.unread:
            self._has_read()
            return
        self._looking = True

        def then(has_more: bool) -> None:
            self._looking = False
            if self.shown is not shown:
                return
            self._show_grown(shown)
            if not shown.lives:
                self.view.new_rows = 0  # they were there before
            if has_more and self.display:
                self._read_on(shown)
            else:
                self._has_read()

        self.page.port.work(lambda: read_on(shown.streams), then=then)

    def _show_grown(self, shown: Shown) -> None:
        for each in shown.streams:
            self.view.grown(each.name)
        self.page.told()

    def _has_read(self) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            waiting()

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
                found = grown(opened, shown.step)
                _extend(shown, found)
                return found
            except BaseException:  # then nobody is told
                self._looking = False
                raise

        def then(found: Grown) -> None:
            self._looking = False
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
        self._show_grown(shown)
        if shown.unread:
            self._read_on(shown)

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
        elif self.shown.unread and not self._looking:
            self._read_on(self.shown)
        self._follow()

    def left(self) -> None:
        self._stop_search()
        self._follow()

    def may_leave(self) -> bool:
        """Stop a search first."""
        goes_on = self._finding.goes_on or self._waiting is not None
        self._stop_search()
        return not goes_on

    def on_scrolled_moved(self, _event: Rows.Moved) -> None:
        """Stop a search when the person goes somewhere else."""
        if self._finding.goes_on and self._stands() != self._stood:
            self._stop_search()

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
        self._find(error(), "no line further on speaks of an error", step, wraps=False)

    def act_search(self) -> None:
        def then(typed: str) -> None:
            self._stop_search()
            self.view.word = typed.strip()
            self.view.forget()
            if self.view.word:
                self._find_word(1, also_here=True)

        self.page.ask_text("search", then, text=self.view.word)

    def act_next_hit(self) -> None:
        self._find_word(1)

    def act_previous_hit(self) -> None:
        self._find_word(-1)

    def _find_word(self, step: int, *, also_here: bool = False) -> None:
        sought = self.view.word
        if not sought:
            self.page.port.say("nothing is searched; / searches")
            return
        self._find(word(sought), f"{sought!r} is nowhere here", step, also_here=also_here)

    def _find(
        self,
        wanted: Wanted,
        nowhere: str,
        step: int,
        *,
        wraps: bool = True,
        also_here: bool = False,
    ) -> None:
        """Go to what is wanted, at the next item that has it, or with a step of -1 the one before.

        The search begins at the cursor, or at the first item on the screen.
        """
        self._stop_search()
        shown = self.shown
        if shown is None:
            return
        if shown.unread and self._looking:  # what is not read yet would not be found
            self._waiting = lambda: self._find(
                wanted, nowhere, step, wraps=wraps, also_here=also_here
            )
            self.page.told()
            return
        at, count = self.view.cursor, self.view.count
        if at < 0:
            at, also_here = max(0, self.view.item_at(0)), step > 0
        begin = at if also_here else at + step
        items = [range(begin, count) if step > 0 else range(begin, -1, -1)]
        if wraps:
            items.append(range(begin) if step > 0 else range(count - 1, begin, -1))
        self._begin(wanted, nowhere, items)

    def _begin(self, wanted: Wanted, nowhere: str, items: Sequence[range]) -> None:
        assert self.shown is not None
        if not self.shown.streams:
            self._show_hit(self._in_memory(wanted, items), wanted, nowhere)
            return
        search = Search(wanted, legs(self.view, self.shown.streams, *items))
        self._stood = self._stands()
        self._finding.begin(
            self.page.port, search, lambda hit: self._show_hit(hit, wanted, nowhere)
        )

    def _in_memory(self, wanted: Wanted, items: Sequence[range]) -> Hit | None:
        """Search the last screen of a program that draws."""
        for item in (item for each in items for item in each):
            place = wanted.place_in(self.view.text_of(item))
            if place >= 0:
                return Hit(item, place)
        return None

    def _show_hit(self, hit: Hit | None, wanted: Wanted, nowhere: str) -> None:
        if hit is None:
            self.page.port.say(nowhere)
            return
        self.view.stand_on(hit.item)
        if wanted.place_in(self.view.text_of(hit.item)) < 0:
            told = f"it is at character {hit.place + 1:,} of this line, which is not drawn so far"
            self.page.port.say(told)

    def _stop_search(self) -> None:
        self._waiting = None
        self._finding.stop()

    def _stands(self) -> tuple[object, ...]:
        return self.view.cursor, self.view.place

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


def _extend(shown: Shown, found: Grown) -> None:
    """Take in how much there is now, and read it as far as a slice goes. Called in a thread."""
    by_name = dict(zip(("stderr",), found.spans[1:], strict=False))
    for each in shown.streams:
        span = by_name.get(each.name, found.spans[0]) if found.spans else each.source.span
        if span.size > each.source.span.size:
            each.source.span = span
    read_on(shown.streams)
