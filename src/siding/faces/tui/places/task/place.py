"""The place of a task: its patch, steps and output, and the acts that close the loop."""

from collections.abc import Callable, Collection, Sequence
from typing import ClassVar, cast

from textual.app import App, ComposeResult
from textual.events import Resize

from siding.faces.plans.plan import ActRequest
from siding.faces.tui.acts import answers
from siding.faces.tui.cards.card import Wanted
from siding.faces.tui.keys import Key, KeyTable
from siding.faces.tui.palette import Chooser, Entry
from siding.faces.tui.places.task.acting import Acting
from siding.faces.tui.places.task.changes import From, Since
from siding.faces.tui.places.task.going_on import is_of_any_place
from siding.faces.tui.places.task.head import Head, name_pieces, tab_pieces
from siding.faces.tui.places.task.keys import OF_SEARCH, OF_TASK, SHEET
from siding.faces.tui.places.task.output_tab import OutputTab
from siding.faces.tui.places.task.patch_tab import PatchTab
from siding.faces.tui.places.task.reading import Opened, open_task
from siding.faces.tui.places.task.sheet import TYPING, Choice, Typing
from siding.faces.tui.places.task.sheet_keys import SheetKeys
from siding.faces.tui.places.task.steps_tab import StepsTab
from siding.faces.tui.places.task.tab import Tab
from siding.faces.tui.places.task.talk.tab import TalkTab
from siding.faces.tui.places.task.wider import Wider
from siding.faces.tui.rows.base import Rows
from siding.faces.tui.rows.styles import Look
from siding.feed.addresses import Address, is_chat_id
from siding.feed.model import Ask, AskKind, Feed, Row, State
from siding.feed.seen import Seen
from siding.record.place.busy import live_in

# What is answered by a card here; the rest has keys of its own in this place.
_ANSWERED = (AskKind.QUESTION, AskKind.PERMISSION, AskKind.GATE, AskKind.AGENT)


class TaskPlace(SheetKeys):
    """One task. The address may name a step, whose patch is shown, or a hunk."""

    NAME = "task"
    KEYS: ClassVar[tuple[Key, ...]] = OF_TASK
    AUTO_FOCUS = ""

    def __init__(self, address: Address | None = None) -> None:
        super().__init__(address)
        self.head = Head()
        self.typing = Typing()
        self.talk = TalkTab(self)
        self.patch = PatchTab(self)
        self.tabs: dict[str, Tab] = {
            each.NAME: each for each in (self.talk, self.patch, StepsTab(self), OutputTab(self))
        }
        self.active = ""
        self.acting = Acting(self)
        self.wider = Wider(self)
        self._opened: Opened | None = None
        self._row: Row | None = None
        self._stale: set[str] = set()
        self._tables: dict[str, KeyTable] = {}
        self._early: list[Key] = []  # what was pressed before the task was known

    # As a place

    def body(self) -> ComposeResult:
        yield self.head
        yield from self.tabs.values()
        yield self.pane
        yield self.talk.foot
        yield self.sheet
        yield self.typing

    def on_mount(self) -> None:
        super().on_mount()
        address = self.address
        assert address is not None
        self._fit(self.app.size.width)
        self.show_tab("patch")
        self.port.work(lambda: open_task(self.port.siding, address), then=self._take)

    def _take(self, opened: Opened) -> None:
        self._opened = opened
        assert self.address is not None
        self.go_to(self.address)
        for name in self.tabs:
            self._stale.add(name)
        self._refresh_tab()
        early, self._early = self._early, []
        for key in early:
            self.run_key(key)

    @property
    def siding_app(self) -> App[int]:
        """The app, as Textual knows it."""
        return cast("App[int]", self.app)

    @property
    def opened(self) -> Opened:
        """The task that is shown."""
        assert self._opened is not None, "nothing is read before the task is known"
        return self._opened

    @property
    def key_table(self) -> KeyTable:
        """The keys of the tab, or those of the sheet while it is open."""
        tab = self.tabs.get(self.active)
        searched = tab is not None and bool(tab.rows.word) and not tab.is_alone
        state = "" if tab is None else tab.state
        name = "sheet" if self.sheet.is_open else f"{self.active} {state} {searched}"
        table = self._tables.get(name)
        if table is None:
            own = tab.keys_now() if tab is not None else ()
            acts = {each.act for each in own}
            all_ = () if tab is not None and tab.is_alone else OF_TASK
            rest = tuple(each for each in all_ if each.act not in acts)
            found = (*(OF_SEARCH if searched else ()), *own, *rest)
            table = self.port.table_of(self.NAME, SHEET if name == "sheet" else found)
            self._tables[name] = table
        return table

    def run_key(self, key: Key) -> None:
        """Run the act of a key: in the tab, else here, else the one that is everywhere the same."""
        self.port.under_way.forget()  # a key leaves what waits
        if self._opened is None and not is_of_any_place(key.act):
            self._early.append(key)
            return
        tab = None if self.sheet.is_open else self.tabs.get(self.active)
        act = getattr(tab, f"act_{key.act}", None)
        if act is not None:
            act()
        else:
            super().run_key(key)

    def take_feed(self, feed: Feed) -> None:
        """Read again what is shown, if something of the task has changed."""
        if self.address is None or not self.is_mounted:
            return
        names = (self.address.project, self.address.place)
        row = next((each for each in feed.rows if (each.project, each.id) == names), None)
        is_new = row is not None and self._row is not None and row != self._row
        if self._row is None:
            self._look_at(row)
        self._row = row
        self._show_ask(feed)
        if self._opened is not None:
            self.talk.take_feed()
        if is_new and self._opened is not None:
            self._stale |= set(self.tabs)
            self._refresh_tab(changed=True)
        self.told()

    def _show_ask(self, feed: Feed) -> None:
        """Show the card of what waits longest here; without one the pane takes no room."""
        asks = () if self._row is None else self._row.asks
        open_ones = (each for each in feed.asks if each.id in asks and each.kind in _ANSWERED)
        ask = next(open_ones, None)
        self.pane.display = ask is not None
        if ask is not None:
            self.offer(ask)
        else:
            self.withdraw()
            self.pane.show_rows([])

    def answer(self, ask: Ask, wanted: Wanted) -> str:
        """Carry an answer out, in a thread."""
        return answers.carry_out(self.port.siding, ask, wanted)

    def attach(self, ask: Ask) -> None:
        """Go to the screen of the agent that asks."""
        del ask
        if self._opened is not None:
            self.act_attach()

    def use(self, look: Look) -> None:
        """Draw with other colours."""
        self.head.look = look
        self.head.refresh()
        self.sheet.use(look)
        self.pane.look = look
        self.pane.refresh()
        for each in self.tabs.values():
            each.use(look)
        self.told()

    def is_at(self, address: Address) -> bool:
        mine = self.address
        return mine is not None and (address.project, address.place) == (mine.project, mine.place)

    def go_to(self, address: Address) -> None:
        self.address = address
        if is_chat_id(address.rest):
            self.talk.show_chat(address.rest)
            self.show_tab("talk")
        if self._opened is None:
            return
        if address.rest.isdecimal():
            self.show_patch(Since(From.OF_STEP, str(int(address.rest))))
        if address.hunk:
            path, _colon, number = address.hunk.rpartition(":")
            name, hunk = (path, int(number)) if path and number.isdecimal() else (address.hunk, 0)
            self.patch.wanted_hunk = (name, hunk)

    def addresses(self) -> Collection[str]:
        """Return the address of the task: what is seen here counts for all of it."""
        if self.address is None:
            return ()
        return (str(Address(self.address.project, self.address.place)),)

    def status(self) -> str:
        """Return how the task stands, in a word."""
        return "" if self._row is None else f"{self._row.name} {self._row.state.value}"

    def may_leave(self) -> bool:
        """Close what is open in this place first."""
        if self.sheet.is_open:
            self.act_sheet_close()
            return False
        if self.active == "patch" and self.patch.leaves_list():
            return False
        tab = self.tabs.get(self.active)
        return tab is None or tab.may_leave()

    def on_screen_suspend(self) -> None:
        """Take in that another place is shown: all that there was of the task is seen."""
        self._look_at(self._row)
        tab = self.tabs.get(self.active)
        if tab is not None and self._opened is not None:
            tab.left()

    def on_unmount(self) -> None:
        """Let nothing work on for a place that is left, or a screen that ends."""
        self.wider.closed()
        self.talk.closed()

    def _look_at(self, row: Row | None) -> None:
        """Keep that the person has seen the task as it is."""
        if row is not None:
            Seen(self.port.siding.home).look_at(row)

    def on_resize(self, event: Resize) -> None:
        """Take the width."""
        self._fit(event.size.width)

    def _fit(self, columns: int) -> None:
        for each in self.tabs.values():
            each.fit(columns)

    def on_scrolled_moved(self, event: Rows.Moved) -> None:
        """Say where the cursor is."""
        del event
        self.told()

    # As its tabs see it

    def told(self) -> None:
        """Draw the head anew."""
        address, row = self.address, self._row
        name = self._opened.task.name if self._opened is not None else ""
        if not name:
            name = row.name if row is not None else (address.place if address else "")
        project = row.project_name if row is not None else (address.project if address else "")
        tab = self.tabs.get(self.active)
        said = tab.status() if tab is not None and self._opened is not None else "reading"
        lives = row is not None and bool(row.run)
        busy = "" if row is None or row.state is not State.RUNS or not row.run else row.run
        about = tab.about() if tab is not None and self._opened is not None else ""
        self.head.show(
            name_pieces(project, name, row, busy or about),
            tab_pieces(self.active, said, lives=lives),
        )

    def show_tab(self, name: str) -> None:
        """Show a tab in place of the one that is shown."""
        before = self.tabs.get(self.active)
        self.active = name
        for each in self.tabs.values():
            each.display = name == each.NAME
        if name != "talk":
            self.talk.hide()
        if before is not None and name != before.NAME and self._opened is not None:
            before.left()
        self.foot.show_hints(self.key_table.hints())
        if self._opened is not None:
            self._refresh_tab()
            self.tabs[name].entered()
        self.told()

    def _refresh_tab(self, *, changed: bool = False) -> None:
        tab = self.tabs[self.active]
        if self.active in self._stale:
            self._stale.discard(self.active)
            tab.changed() if changed else tab.read()
            if not changed:
                tab.entered()

    def show_patch(self, since: Since) -> None:
        """Show a change in the tab of the patch."""
        self._stale.discard("patch")
        self.patch.since_wanted(since)
        self.show_tab("patch")

    def show_output(self, step: str) -> None:
        """Show the output of a step, or of a run that lives."""
        output = self.tabs["output"]
        assert isinstance(output, OutputTab)
        self._stale.discard("output")
        output.show_step(step)
        self.show_tab("output")

    def ask_text(self, title: str, then: Callable[[str], None], *, text: str = "") -> None:
        """Have the person type a text."""
        self.typing.ask(title, then, text=text, left=self._typed_out)
        self.port.say(TYPING)

    def _typed_out(self) -> None:
        self.foot.hush()
        self.give_keys_back()

    def give_keys_back(self) -> None:
        """Give the keys to the tab."""
        self.tabs[self.active].back()

    def find(self, title: str, choices: Sequence[Choice], then: Callable[[str], None]) -> None:
        """Have the person choose one of many lines by words."""
        entries = [
            Entry("".join(text for text, _style in each.pieces), "", each.key) for each in choices
        ]

        def chosen(value: object) -> None:
            if isinstance(value, str):
                then(value)

        self.app.push_screen(Chooser(title, entries, self.port.look), chosen)

    def on_descendant_focus(self) -> None:
        """Show the keys of what has them now."""
        self.tabs[self.active].noticed()
        self.foot.show_hints(self.key_table.hints())

    def plan(self, wish: ActRequest) -> None:
        """Show what an act would do, and do it if the person says so."""
        self._then = None
        self.acting.plan(wish)

    @property
    def is_taken(self) -> bool:
        """Whether the keys go to something else than the tab or a plan."""
        return self.typing.is_open or (self.sheet.is_open and not self.acting.is_open)

    @property
    def said(self) -> str:
        """What is said at the foot."""
        return self.foot.said

    def hush(self) -> None:
        """Take away what was said at the foot."""
        self.foot.hush()

    def retry(self, wish: ActRequest, digest: str) -> None:
        """Do a step again, as the plan with this digest says."""
        self.wider.retry(wish, digest)

    def acted(self, said: str) -> None:
        """Take in that an act was done: say so, and read again what is shown."""
        self._stale |= set(self.tabs)
        self._refresh_tab(changed=True)
        self.port.say(said)

    # Keys of all tabs

    def act_talk(self) -> None:
        self.show_tab("talk")

    def act_patch(self) -> None:
        self.show_tab("patch")

    def act_steps(self) -> None:
        self.show_tab("steps")

    def act_output(self) -> None:
        """Show the output: of the step under the cursor, if the steps are shown."""
        steps = self.tabs["steps"]
        if self.active == "steps" and isinstance(steps, StepsTab) and steps.line is not None:
            line = steps.line
            self.show_output(line.run if line.depth or not line.number else line.key)
            return
        self.show_tab("output")

    def act_attach(self) -> None:
        """Give the whole terminal to a run that lives."""
        opened = self.opened
        live = live_in(opened.project, opened.task.id)
        project, task = self.address.project if self.address else "", str(opened.task.id)
        if not live:
            self.port.say("no run lives in this task; o shows what the last one printed")
        elif len(live) == 1:
            self.port.hand_over(project, task, live[0].id)
        else:
            choices = [Choice([(f"{each.id}  {each.title}", "text")], each.id) for each in live]
            self.choose("Attach to", choices, lambda run: self.port.hand_over(project, task, run))

    def act_again(self) -> None:
        self.tabs[self.active].read()

    def act_search(self) -> None:
        rows = self.tabs[self.active].rows

        def then(word: str) -> None:
            if rows.search(word.strip()) < 0 and word.strip():
                rows.search("")
                self.port.say(f"{word.strip()!r} is nowhere here")
            self.foot.show_hints(self.key_table.hints())

        self.ask_text("search", then, text=rows.word)

    def act_end_search(self) -> None:
        tab = self.tabs[self.active]
        tab.may_leave()  # a search that goes on ends
        tab.rows.search("")
        self.foot.show_hints(self.key_table.hints())

    def act_next_hit(self) -> None:
        if self.tabs[self.active].rows.next_hit(1) < 0:
            self.port.say("it is nowhere here any more")

    def act_previous_hit(self) -> None:
        if self.tabs[self.active].rows.next_hit(-1) < 0:
            self.port.say("it is nowhere here any more")

    def act_apply(self) -> None:
        """Show what an apply would do."""
        self.plan(ActRequest(act="apply"))

    def act_undo(self) -> None:
        self.plan(ActRequest(act="undo"))

    def act_redo(self) -> None:
        self.plan(ActRequest(act="redo"))

    def act_sync(self) -> None:
        self.plan(ActRequest(act="sync"))

    def act_conflict(self) -> None:
        self.acting.show_merge()

    def act_pull_request(self) -> None:
        self.wider.pull_request()

    def act_attempts(self) -> None:
        self.wider.attempts()

    def act_bisect(self) -> None:
        self.wider.bisect()
