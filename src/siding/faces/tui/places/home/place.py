"""Home on the screen: the list, the pane below it, the line that is typed, and the acts."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult

from siding.faces.tui.cards.card import Wanted, wrapped
from siding.faces.tui.keys import Key
from siding.faces.tui.places.home.acting import ActingOnRows
from siding.faces.tui.places.home.keys import KEYS, pin_of
from siding.faces.tui.places.home.loose import is_loose
from siding.faces.tui.places.home.peek import peek_rows
from siding.faces.tui.places.home.prompt import LinePrompt
from siding.faces.tui.places.home.rows import HomeRows
from siding.faces.tui.places.home.top import TopLine
from siding.faces.tui.places.home.words import counts_pieces, empty_lines
from siding.faces.tui.rows.base import Rows
from siding.faces.tui.rows.styles import Look
from siding.faces.tui.slots import slot_of
from siding.feed.addresses import ASKS, WORKFLOWS, Address, parsed
from siding.feed.model import Ask, Feed, Row, RowKind
from siding.feed.seen import Seen
from siding.feed.slots import keep_slots

if TYPE_CHECKING:
    from siding.faces.tui.acts.reading import Peek

_PEEK_ROWS = 8
_TICK_S = 5.0  # ages are drawn anew, and rows put in order when nobody works in the list
_PEEK_AFTER_S = 0.15  # the cursor stays on a row for so long before it is read


class HomePlace(ActingOnRows):
    """What waits, broke, is ready and runs in all projects."""

    NAME = "home"
    KEYS: ClassVar[tuple[Key, ...]] = KEYS

    def __init__(
        self,
        address: Address | None = None,
        *,
        now_s: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(address)
        self._seen: Seen | None = None
        self._now_s = now_s
        self.top = TopLine()
        self.rows = HomeRows(self.home, now_s=now_s, is_unseen=self._is_unseen)
        self.line = LinePrompt()
        self._peek: Peek | None = None
        self._peeked: Row | None = None  # the row as it was when it was read
        self._is_peek_due = False
        self._stood_on = ""  # the key of the row that the pane is about

    def body(self) -> ComposeResult:
        """Yield the counts, the list, the pane, and the line that is typed."""
        yield self.top
        yield self.rows
        yield self.pane
        yield self.line

    def on_mount(self) -> None:
        """Look at the clock now and then."""
        self.set_interval(_TICK_S, self._tick)

    def use(self, look: Look) -> None:
        """Draw with other colours, or other marks."""
        self.rows.use(look)
        for each in (self.top, self.pane, self.line):
            each.look = look
            each.refresh()

    # The feed.

    def take_feed(self, feed: Feed) -> None:
        """Show the feed."""
        home = self.port.siding.home
        if self._seen is None:
            self._seen = Seen(home)
            self.home.slots = self.port.slots
        if feed.epoch and feed.epoch != self.home.feed.epoch:
            self._seen.keep(feed.rows)
        self._seen.refresh()
        self.home.take(feed)
        self._show()
        if self.address is not None:
            self.go_to(self.address)

    def _show(self) -> None:
        """Draw the list, the counts and the pane as they are now."""
        self.rows.show()
        home, width = self.home, self.size.width or 100
        self.top.show(counts_pieces(home.counts(), width, words=home.words, moved=home.moved))
        self._show_pane()

    def _tick(self) -> None:
        if self.home.idle():
            self._show()
        elif self.is_current:
            self.rows.forget()
            if self.home.row is not None and self.home.row.run:
                self._peeked = None  # it may have printed something
                self._show_pane()

    def _is_unseen(self, row: Row) -> bool:
        return self._seen is not None and not is_loose(row) and self._seen.is_unseen(row)

    # The pane.

    def _show_pane(self) -> None:
        """Show the card of the row under the cursor, or what it is at, or how to begin."""
        width = max(20, self.size.width or 100)
        row = self.home.row
        if self._told is not None:
            self.withdraw()
            self.pane.show_rows(self._told)
            return
        empty = empty_lines(self.home.feed, self.home.words)
        ask = None if row is None else self._ask_of(row)
        if ask is not None:
            self.offer(ask)
            return
        self.withdraw()
        if empty or row is None:
            self.pane.show_rows([each for line in empty for each in wrapped(line, width, "text")])
            return
        if self._peeked != row and not self._is_peek_due:
            self._is_peek_due = True
            self.set_timer(_PEEK_AFTER_S, self._read_peek)
        self.pane.show_rows(peek_rows(row, self._peek, width, _PEEK_ROWS))

    def _ask_of(self, row: Row) -> Ask | None:
        return next((self.home.asks[each] for each in row.asks if each in self.home.asks), None)

    def _read_peek(self) -> None:
        """Read what the row under the cursor is at."""
        self._is_peek_due = False
        app, row = self.port.siding, self.home.row
        if row is not None and self.is_attached:
            self._peeked = row

            def read() -> Peek:
                from siding.faces.tui.acts.reading import peek_at

                return peek_at(app, row)

            self.port.work(read, then=self._take_peek)

    def _take_peek(self, peek: Peek) -> None:
        self._peek = peek
        if self.home.cursor == peek.key:
            self._show_pane()

    def on_scrolled_moved(self, event: Rows.Moved) -> None:
        """Show what the row is at on which the cursor stands now."""
        event.stop()
        if self.home.cursor != self._stood_on:  # else it is only scrolled
            self._stood_on = self.home.cursor
            self._told = None
            self._show_pane()

    # Keys.

    def run_key(self, key: Key) -> None:
        """Run an act. Each key but the second of the same takes back what waits for a second."""
        self.home.keyed()
        self.take_back(key.act)
        if slot := slot_of(key.act):
            self._go(self.home.slots.row_of(slot), f"no row has the number {slot}")
        elif pin := pin_of(key.act):
            self._pin(pin)
        else:
            super().run_key(key)

    def may_leave(self) -> bool:
        """Take the filter away, or what is selected, before home is left."""
        if self.home.words:
            self._filter("")
            return False
        if self.home.selected:
            self.home.selected.clear()
            self._show()
            return False
        return True

    def _go(self, key: str, otherwise: str) -> None:
        if not key or not self.home.stand_on(key):
            self.port.say(otherwise)
            return
        self._told = None
        self._show()
        self.rows.stand()

    def act_next(self) -> None:
        """Go to the next row that waits."""
        self._go(self.home.next_waiting(1), "nothing waits for you")

    def act_previous(self) -> None:
        """Go to the row before that waits."""
        self._go(self.home.next_waiting(-1), "nothing waits for you")

    def act_up(self) -> None:
        """Go to the row above."""
        self.rows.move(-1)

    def act_down(self) -> None:
        """Go to the row below."""
        self.rows.move(1)

    def act_page_up(self) -> None:
        """Go a screen up."""
        self.rows.page(-1)

    def act_page_down(self) -> None:
        """Go a screen down."""
        self.rows.page(1)

    def act_first(self) -> None:
        """Go to the first row."""
        self.rows.move(-len(self.home.lines))

    def act_last(self) -> None:
        """Go to the last row."""
        self.rows.move(len(self.home.lines))

    def act_fold(self) -> None:
        """List what rests and is done, or not."""
        self.home.fold()
        self._show()

    def act_sort(self) -> None:
        """Put the rows in order."""
        self.home.sort()
        self._show()

    def act_select(self) -> None:
        """Select the row under the cursor."""
        self.home.select()
        self._show()
        self.rows.stand()

    def act_filter(self) -> None:
        """Let a filter be typed; the list follows each key."""
        self.line.ask("filter", self._filter, text=self.home.words, changed=self._filter)

    def _filter(self, words: str) -> None:
        self.home.filter(words)
        self._show()

    def _pin(self, number: int) -> None:
        row = self.home.row
        if row is None:
            return
        has = self.home.slots.pin(number, row.key)
        pinned = self.home.slots.pinned
        home = self.port.siding.home
        said = f"{row.name} has the number {number}" + ("" if has else " as long as it is here")
        self.port.work(lambda: keep_slots(home, pinned), then=lambda _: self.port.say(said))
        self._show()

    # Acts.

    def act_open(self) -> None:
        """Open the row under the cursor."""
        row = self.home.row
        if row is None:
            return
        if is_loose(row):
            self.port.say(f"it is of no task; {self.key_table.key_of('answer')} answers it here")
            return
        if self._seen is not None:
            self._seen.look_at(row)
        self.port.open_address(row.address)

    def act_unseen(self) -> None:
        """Mark the rows as not seen, or as seen."""
        if self._seen is None:
            return
        for row in self.home.chosen():
            (self._seen.look_at if self._seen.is_unseen(row) else self._seen.put_back)(row)
        self._show()

    def act_address(self) -> None:
        """Copy the address of the row."""
        row = self.home.row
        if row is not None:
            self.port.copy(row.address)

    def act_new(self) -> None:
        """Let the command of a new task be typed."""
        from siding.faces.tui.acts import tasks
        from siding.faces.tui.acts.starting import start_task

        row, app = self.home.row, self.port.siding
        where = row.project_name if row is not None else str(app.cwd)

        def start(line: str) -> str:
            there = app.cwd if row is None else tasks.project_of_row(app, row).paths.root
            return start_task(app, there, line)

        self.line.ask(f"new task in {where}: command", self._take_line(start))

    def act_follow_up(self) -> None:
        """Let a prompt be typed for the agent that lives, else the command that runs next."""
        from siding.faces.tui.acts import tasks
        from siding.faces.tui.acts.reading import next_command
        from siding.faces.tui.acts.starting import as_line

        row, app = self.home.row, self.port.siding
        if row is None:
            return
        if row.kind not in (RowKind.TASK, RowKind.CHAT) or is_loose(row):
            self.port.say("a word goes to a task or a conversation: choose its row", "warning")
            return
        if talk := self.home.conversation_of(row):
            self.port.open_address(talk.address)
            return
        take = self._take_line(partial(tasks.follow_up, app, row))
        if row.run:
            self.line.ask(f"to {row.agent or row.run} in {row.name}", take)
            return
        self.port.work(
            lambda: as_line(next_command(app, row)),
            then=lambda text: self.line.ask(f"next command in {row.name}", take, text=text),
        )

    def _take_line(self, act: Callable[[str], str]) -> Callable[[str], None]:
        def take(text: str) -> None:
            if text:
                self.port.work(partial(act, text), then=self._line_taken)

        return take

    def _line_taken(self, said: str) -> None:
        self.port.say(said)
        self._peeked = None
        self._show_pane()

    # Answers.

    def answer(self, ask: Ask, wanted: Wanted) -> str:
        """Carry an answer out, in a thread."""
        from siding.faces.tui.acts import answers

        return answers.carry_out(self.port.siding, ask, wanted)

    def attach(self, ask: Ask) -> None:
        """Go to the screen of the agent that asks."""
        row = next((each for each in self.home.feed.rows if each.key == ask.row), None)
        if row is None or not row.run:
            self.port.say("its run has ended", "warning")
            return
        self.port.hand_over(row.project, row.id, row.run)

    # Where this place is.

    def task_address(self) -> Address | None:
        """Return the task of the row under the cursor."""
        row = self.home.row
        if row is None or is_loose(row) or row.kind not in (RowKind.TASK, RowKind.CHAT):
            return None
        return parsed(row.address)

    def is_at(self, address: Address) -> bool:
        """Home shows what is of no task."""
        return address.place in ("", WORKFLOWS, ASKS)

    def go_to(self, address: Address) -> None:
        """Put the cursor on what an address names, as soon as the feed is there."""
        is_there = bool(self.home.feed.epoch)
        self.address = None if is_there else address
        if is_there:
            self._go(self.home.key_at(address), f"nothing that is listed has the address {address}")

    def addresses(self) -> Collection[str]:
        """Return the addresses of the rows on the screen, and of what they ask."""
        first = self.rows.top_row
        shown = self.home.lines[first : first + max(1, self.rows.size.height)]
        keys = {line.key for line in shown}
        asked = [ask.address for ask in self.home.feed.asks if ask.row in keys]
        return [*(row.address for row in self.home.feed.rows if row.key in keys), *asked]
