"""The app around the places: which one is shown, its keys, the feed, acts in threads, signals.

It keeps nothing of its own: what it shows is the feed, and what it does are the acts of Siding.
"""

import asyncio
import re
import signal
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any, ClassVar, TypeVar

from textual.app import App as TextualApp
from textual.binding import Binding, BindingType
from textual.events import AppBlur, AppFocus, Event, InputEvent, Paste
from textual.events import Key as KeyEvent
from textual.screen import Screen

from siding.faces.tui.ascii import OnlyAscii
from siding.faces.tui.collector import Collector
from siding.faces.tui.driver import SidingDriver, TerminalGone, TerminalReply
from siding.faces.tui.effort_act import open_effort
from siding.faces.tui.foot import status_of, waiting_in
from siding.faces.tui.found import is_first
from siding.faces.tui.frame import lines_of
from siding.faces.tui.greeting import greet
from siding.faces.tui.hand_over import handed_over
from siding.faces.tui.keys import Key, KeyTable
from siding.faces.tui.outer import Eyes, Outer
from siding.faces.tui.palette import Chooser, Entry, Value, everything, keys_of
from siding.faces.tui.place import Place
from siding.faces.tui.ports import Severity
from siding.faces.tui.rows.styles import Look, Palette
from siding.faces.tui.slots import Slots
from siding.faces.tui.status_line import LOOK_EVERY_S, Shown, StatusLine
from siding.faces.tui.status_place import place_of
from siding.faces.tui.table import place_for
from siding.faces.tui.under_way import UnderWay
from siding.faces.tui.watching import Source, Watching
from siding.feed.addresses import ASKS, WORKFLOWS, Address, parsed
from siding.feed.model import Feed, Row
from siding.feed.slots import kept_slots
from siding.ground.errors import SidingError, UsageError
from siding.ground.namedtuples import NamedTuple
from siding.record.place.wiring import App

T = TypeVar("T")
_NOTHING = Feed(epoch=0, seq=0, rows=(), asks=(), problems=(), projects=0)
_COLLECT_EVERY_S = 0.5
_THREADS = 4
_INTERRUPTED_S = 2.0  # within which a second ctrl+c leaves
_BUG = 70  # as of any command
# Mode 2031: the terminal tells when it changes between dark and light.
_TELL_THEME, _TELL_NO_THEME = "\x1b[?2031h", "\x1b[?2031l"
_THEME_TOLD = re.compile(r"\x1b\[\?997;([12])n")
_ENDING = (signal.SIGTERM, signal.SIGHUP)


class Options(NamedTuple):
    """How the app is shown, and what it is told by who starts it."""

    keys: Mapping[str, Sequence[str]] = {}  # by `PLACE.ACT`, or ACT for all places
    look: Look = Look()
    typed: str = ""  # before the screen took keys
    modes: Sequence[Any] | None = None  # of the terminal, by `tcgetattr`, as a shell had it
    owns_collector: bool = False  # whether it may collect garbage by its own rule
    has_eyes: Callable[[bool | None], None] | None = None  # is told whether a person looks
    greets: bool = False  # whether the first start is shown, if it was not yet
    at: Address | None = None  # what is shown over the first place


_USUAL = Options()


class SidingApp(TextualApp[int], inherit_bindings=False):
    """The terminal. `run` shows it until it is left."""

    CSS: ClassVar[str] = "Screen { layout: vertical; }"
    ENABLE_COMMAND_PALETTE = False
    ESCAPE_TO_MINIMIZE = False
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+c", "interrupted", show=False)]

    def __init__(
        self,
        siding: App,
        *,
        source: Callable[[], Source] | None = None,
        begin: Callable[[], Place] = lambda: place_for(None),
        options: Options = _USUAL,
    ) -> None:
        super().__init__(driver_class=SidingDriver, ansi_color=True)
        if options.look.is_ascii:
            self._filters.append(OnlyAscii())
        self.siding = siding._replace(tell=self._tell, warn=self._warn, choose=None)
        self.feed = _NOTHING
        self.look = options.look
        self.typed, self.modes = options.typed, options.modes
        self.failure: Exception | None = None  # a bug that ended the screen
        self.last_frame: tuple[int, list[str]] | None = None
        self._has_eyes = options.has_eyes
        self._greets = options.greets
        self._at = options.at
        self.eyes = Eyes.UNKNOWN
        self.under_way = UnderWay()
        self._key_settings = options.keys
        self._source = source
        self._begin = begin
        self._watching: Watching | None = None
        self._outer = Outer(siding.env)
        self._collector = Collector() if options.owns_collector else None
        self._acts = ThreadPoolExecutor(_THREADS, thread_name_prefix="siding-act")
        self._doing = ""
        self._shown: frozenset[str] = frozenset()
        self._key_at = time.monotonic()
        self._interrupted_at = 0.0
        self._title = -1
        self._is_feed_there = False
        self._shown_line = Shown()
        self.line = StatusLine(self.siding, self._take_line, self._warn, self)

    # What Textual asks.

    def get_default_screen(self) -> Screen[Any]:
        return self._begin()

    def on_mount(self) -> None:
        """Begin to watch the feed, and take over signals and the collector."""
        self.theme = "ansi-light" if self.look.palette is Palette.LIGHT else "ansi-dark"
        self.write_outer(_TELL_THEME)
        loop = asyncio.get_running_loop()
        for number in _ENDING:
            try:
                loop.add_signal_handler(number, self._end, 128 + number)
            except (ValueError, RuntimeError):  # not in the main thread, as in tests
                break
        if self._at is not None:
            self.call_after_refresh(self.open_address, self._at)
        if self._greets and is_first(self.siding):
            self.call_after_refresh(greet, self, self)
        if self._collector is not None:
            self.set_interval(_COLLECT_EVERY_S, self._pause)
            self.call_after_refresh(self._collector.start)
        if self._source is not None:
            self._watching = Watching(self._source(), self._take, self._feed_failed)
            self._watching.start()
        self.line.begin()
        self.set_interval(LOOK_EVERY_S, self.line.look_for_changes)

    async def on_unmount(self) -> None:
        """End the thread of the feed."""
        self.write_outer(_TELL_NO_THEME)
        await self.line.close()
        if self._watching is not None:
            await asyncio.to_thread(self._watching.close)
        self._acts.shutdown(wait=False, cancel_futures=True)
        if self._collector is not None:
            self._collector.stop()

    async def on_event(self, event: Event) -> None:
        if isinstance(event, InputEvent):
            self._key_at = time.monotonic()
        if isinstance(event, KeyEvent | Paste) and not event.is_forwarded:
            self._note_typed()
        await super().on_event(event)

    def _note_typed(self) -> None:
        place = self.place
        if place is not None:
            place.typed()

    def _handle_exception(self, error: Exception) -> None:
        """End at a bug. Tests have Textual's way; a person gets a report, as of any command."""
        if self.is_headless:
            super()._handle_exception(error)
            return
        if self.failure is None:
            self.failure = error
        self.exit(_BUG, return_code=_BUG)

    def exit(
        self,
        result: int | None = None,
        return_code: int = 0,
        message: Any = None,
    ) -> None:
        """Keep the lines of the first place, for the next start; then end."""
        if self.last_frame is None and len(self.screen_stack) == 1:
            self.last_frame = (self.size.width, lines_of(self.screen))
        super().exit(result, return_code, message)

    # The feed.

    @property
    def place(self) -> Place | None:
        """The place on top, below overlays."""
        return next((each for each in reversed(self.screen_stack) if isinstance(each, Place)), None)

    @cached_property
    def slots(self) -> Slots:
        """The numbers of the rows, in all places the same."""
        return Slots(kept_slots(self.siding.home))

    def _take(self, feed: Feed) -> None:
        self.feed = feed
        self._is_feed_there = True
        place = self.place
        if place is not None and place.is_mounted:
            place.take_feed(feed)
            self.show(place.addresses())
        self._refresh_status()
        self._refresh_title()

    def _feed_failed(self, told: str) -> None:
        self.say(f"the feed ended: {told}\nq leaves; open `siding` again", "error")

    def _refresh_title(self) -> None:
        waiting = waiting_in(self.feed)
        if waiting != self._title:
            self._title = waiting
            self.write_outer(self._outer.title(waiting))

    def _refresh_status(self) -> None:
        place = self.place
        if place is None:
            return
        shown = self._shown_line
        line = "" if shown.is_of_command else shown.text
        parts = [each for each in (place.status(), line, self._doing) if each]
        place.foot.show_status(" │ ".join((*parts, *status_of(self.feed, self._is_feed_there))))
        place.foot.show_line(shown)
        self.line.look_at(place_of(place.address, self.feed))

    def _take_line(self, shown: Shown) -> None:
        self._shown_line = shown
        self._refresh_status()

    def show(self, addresses: Collection[str]) -> None:
        """Say what the place on top shows: no notice is given of what a person looks at."""
        self._shown = frozenset(addresses)
        self._tell_eyes()
        self._refresh_status()  # a place that was opened just now has none

    def _tell_eyes(self) -> None:
        if self._has_eyes is not None:
            self._has_eyes(self.eyes.focused)
        if self._watching is not None:
            self._watching.show(self._shown, self.eyes.focused)

    def on_app_focus(self, event: AppFocus) -> None:
        """The terminal has the person's eyes."""
        del event
        self.eyes = Eyes.HERE
        self._tell_eyes()

    def on_app_blur(self, event: AppBlur) -> None:
        """The person looks at another window."""
        del event
        self.eyes = Eyes.AWAY
        self._tell_eyes()

    def on_terminal_gone(self, event: TerminalGone) -> None:
        """End with the terminal: its window was closed."""
        del event
        self._end(128 + signal.SIGHUP)

    def on_terminal_reply(self, event: TerminalReply) -> None:
        """Follow the terminal from dark to light; any other answer came too late."""
        told = _THEME_TOLD.fullmatch(event.text)
        if told is None or self.look.palette not in (Palette.DARK, Palette.LIGHT):
            return
        palette = Palette.LIGHT if told[1] == "2" else Palette.DARK
        self.look = self.look._replace(palette=palette)
        self.theme = f"ansi-{palette}"
        for each in self.screen_stack:
            if isinstance(each, Place):
                each.use(self.look)
                each.foot.use(self.look)

    # Places.

    def open_address(self, address: Address | str) -> None:
        """Show what an address names. Says so if nothing has this address."""
        try:
            wanted = parsed(address) if isinstance(address, str) else address
        except UsageError as error:
            self._say_error(error)
            return
        top = self.place
        if top is not None and top.is_at(wanted):
            top.go_to(wanted)
            return
        first = self.screen_stack[0]
        if isinstance(first, Place) and first.is_at(wanted):  # there is one Home
            self.act_go_home()
            first.go_to(wanted)
            return
        self.push_screen(place_for(wanted))

    def go_on_to(self, address: Address | str) -> None:
        """Show what an address names in place of the place on top: `back` does not come here.

        The first place of all stays.
        """
        wanted = parsed(address) if isinstance(address, str) else address
        top, many = self.place, len(self.screen_stack)
        if wanted.place in ("", WORKFLOWS, ASKS):  # what home shows
            self.act_go_home()
        elif many > 1 and top is not None and top is self.screen and not top.is_at(wanted):
            self.switch_screen(place_for(wanted))
            return
        self.open_address(wanted)

    def back(self) -> None:
        """Leave the place for the one below it; at home, leave the program."""
        top = self.place
        if top is not None and not top.may_leave():
            return
        if len(self.screen_stack) > 1:
            self.pop_screen()
        else:
            self.exit(0)

    def act_back(self) -> None:
        """Go back."""
        self.back()

    def act_go_home(self) -> None:
        """Go to the first place."""
        while len(self.screen_stack) > 1:
            self.pop_screen()

    def act_help(self) -> None:
        """Show the keys of the place on top; Enter runs one."""
        place = self.place
        if place is not None:
            self._choose(place, "keys", keys_of(place.key_table))

    def act_palette(self) -> None:
        """Go to any row, or run any act of the place on top."""
        place = self.place
        if place is not None:
            self._choose(place, "go to", everything(self.feed, place.key_table))

    def _choose(self, place: Place, title: str, entries: Sequence[Entry]) -> None:
        def chosen(value: Value | None) -> None:
            if isinstance(value, Row):
                self.open_address(value.address)
            elif isinstance(value, Key):
                place.run_key(value)

        self.push_screen(Chooser(title, entries, self.look), chosen)

    def act_effort(self) -> None:
        """Choose how much the agent of a conversation thinks."""
        if self.place is not None:
            open_effort(self, self, self.place.task_address(), self.line.happened)

    def act_leave(self) -> None:
        """End the program."""
        self.exit(0)

    def act_suspend(self) -> None:
        """Stop, as any program does on ctrl+z."""
        self.action_suspend_process()

    def act_redraw(self) -> None:
        """Draw everything again, also what the terminal has lost."""
        self.refresh(layout=True)

    def table_of(self, place: str, entries: Sequence[Key]) -> KeyTable:
        """Return the keys of a place, with those that the settings change."""
        table = KeyTable(place, entries, self._key_settings)
        for problem in table.problems:
            self.say(f"settings: {problem}", "warning")
        return table

    def run_key(self, key: Key) -> None:
        """Carry out an act that is the same in every place, or say that this place has none."""
        act = getattr(self, f"act_{key.act}", None)
        if act is None:
            self.say(f"this place has no {key.act.replace('_', ' ')}")
            return
        act()

    async def action_interrupted(self) -> None:
        """Leave at the second ctrl+c: the first one may be meant for what a run shows."""
        now = time.monotonic()
        if now - self._interrupted_at < _INTERRUPTED_S:
            self.exit(0)
            return
        self._interrupted_at = now
        self.say("ctrl+c again leaves; what runs goes on")

    # Acts.

    def work(
        self,
        function: Callable[[], T],
        *,
        then: Callable[[T], None] | None = None,
        failed: Callable[[], None] | None = None,
    ) -> None:
        """Carry out an act of Siding in a thread, and give what it returns to `then`, in the loop.

        A failure is shown with what, why and what to do; then `failed` is called and not `then`.
        """
        loop = asyncio.get_running_loop()

        async def carry_out() -> None:
            try:
                found = await loop.run_in_executor(self._acts, function)
            except (SidingError, OSError) as error:
                self._say_error(error)
                if failed is not None:
                    failed()
            else:
                if then is not None:
                    then(found)
            finally:
                self._set_doing("")

        self.run_worker(carry_out(), exclusive=False, exit_on_error=True)

    def _tell(self, doing: str) -> None:
        self._from_any_thread(self._set_doing, doing)

    def _warn(self, sentence: str) -> None:
        self._from_any_thread(self.say, sentence, "warning")

    def _from_any_thread(self, function: Callable[..., None], *values: object) -> None:
        loop = self._loop
        if loop is not None and loop.is_running():
            loop.call_soon_threadsafe(function, *values)

    def _set_doing(self, doing: str) -> None:
        if doing != self._doing:
            self._doing = doing
            self._refresh_status()

    def say(self, text: str, severity: Severity = "note") -> None:
        """Show a sentence at the foot until the next key."""
        place = self.place
        if place is not None:
            place.foot.say(text, severity)

    def _say_error(self, error: SidingError | OSError) -> None:
        if isinstance(error, SidingError):
            hint = f"\n{error.hint}" if error.hint else ""
            self.say(f"{error.message}{hint}", "error")
        else:
            self.say(f"{error.strerror or error}: {error.filename or ''}".rstrip(": "), "error")

    # The terminal.

    def write_outer(self, said: str) -> None:
        """Write to the terminal itself, beside the screen."""
        if self._driver is not None and not self.is_headless:
            self._driver.write(said)
            self._driver.flush()

    def copy(self, text: str) -> None:
        """Put a text on the clipboard, as far as the terminal lets us."""
        said = self._outer.copied(text)
        if said is None:
            self.say("this is too long for the clipboard of a terminal", "warning")
            return
        self.write_outer(said)
        self.say("copied, if the terminal allows it")

    def hand_over(self, project: str, task: str, run: str) -> None:
        """Give the whole terminal to a run until it is left; then come back to where we were."""
        try:
            said = handed_over(self, self.siding, project, task, run)
        except SidingError as error:
            self._say_error(error)
        else:
            self.say(said)

    def _end(self, status: int) -> None:
        self.exit(status, return_code=status)

    def _pause(self) -> None:
        assert self._collector is not None
        self._collector.pause(time.monotonic() - self._key_at)
