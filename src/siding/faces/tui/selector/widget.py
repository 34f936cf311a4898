"""The selector on the screen, below what is typed. It is as high as its rows, and not there
without them.

It has the keys while it has the focus, which `take_keys` gives it and the message `Left` asks to be
taken back. Until then no letter goes further: what somebody types there is not meant as an act.
"""

import time
from collections.abc import Callable, Iterable

from rich.segment import Segment
from textual.events import Click
from textual.events import Key as KeyEvent
from textual.message import Message
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from siding.faces.tui.keys import spoken
from siding.faces.tui.rows.drawing import Drawing
from siding.faces.tui.rows.lines import Pieces
from siding.faces.tui.rows.styles import PLAIN_LOOK, Look
from siding.faces.tui.selector.drawing import rows_of_selector
from siding.faces.tui.selector.model import (
    KEYS,
    Entry,
    Leave,
    Selector,
    Step,
    Stop,
    View,
    expired,
    focused,
    press,
    stop_or_clear,
    taken,
    unfocused,
    view,
)

_TICK_S = 1.0  # while something works, its time is drawn anew


class AgentSelector(Widget):
    """Draws the rows, and says by messages what is to be shown or ended."""

    DEFAULT_CSS = "AgentSelector { height: auto; width: 1fr; display: none; }"
    can_focus = True

    class Viewed(Message):
        """This one is to be shown; "" is the conversation itself."""

        def __init__(self, key: str, entry: Entry | None) -> None:
            super().__init__()
            self.key = key
            self.entry = entry

    class Stopped(Message):
        """This one is to be ended."""

        def __init__(self, entry: Entry) -> None:
            super().__init__()
            self.entry = entry

    class Left(Message):
        """The keys go back to where they came from."""

    def __init__(self, *, now_s: Callable[[], float] = time.time) -> None:
        super().__init__()
        self.selector = Selector()
        self._now_s = now_s
        self._look = PLAIN_LOOK
        self._drawing = Drawing()
        self._rows: list[Pieces] = []
        self._grace: Timer | None = None
        self._tick: Timer | None = None

    def on_mount(self) -> None:
        """Draw times anew while something works."""
        self._tick = self.set_interval(_TICK_S, self._draw, pause=True)

    def use(self, look: Look) -> None:
        """Draw with other colours."""
        self._look = look
        self._draw()

    def take(self, entries: Iterable[Entry]) -> None:
        """Show these. One that was there and is not any more has ended."""
        now = self._now_s()
        self._become(expired(taken(self.selector, entries, now), now))

    def clear(self) -> None:
        """Show nothing: what comes next is of another conversation."""
        self._become(Selector())

    def take_keys(self) -> bool:
        """Take the keys, if there is something to choose; tell whether it does."""
        self._become(focused(self.selector))
        if self.selector.is_focused:
            self.focus()
        return self.selector.is_focused

    def on_key(self, event: KeyEvent) -> None:
        """Choose, show, end; other letters do nothing here."""
        key = spoken(event.key, event.character)
        if not self.selector.is_focused or not (key in KEYS or len(key) == 1 or key == "space"):
            return
        event.stop()
        event.prevent_default()
        self._carry_out(press(self.selector, key, self._now_s()))

    def on_focus(self) -> None:
        """Have the keys, also if they came by the mouse."""
        if not self.selector.is_focused:
            self._become(focused(self.selector))

    def on_blur(self) -> None:
        """Give the keys up: something else has the focus."""
        self._become(unfocused(self.selector))

    def leave_view(self) -> bool:
        """Show the conversation again; tell whether another one was shown."""
        step = view(self.selector, "", self._now_s())
        self._carry_out(step)
        return bool(step.acts)

    def shown_elsewhere(self) -> None:
        """Mark the conversation again: what was chosen is no part of it."""
        self._become(view(self.selector, "", self._now_s()).selector)

    def stop_or_clear(self) -> None:
        """End the one that is shown, or take it off the list if it has ended."""
        self._carry_out(stop_or_clear(self.selector, self.selector.viewed, self._now_s()))

    def on_click(self, event: Click) -> None:
        """Show the row that was clicked, as far as all rows are drawn."""
        keys = self.selector.keys
        if len(keys) == len(self._rows) and event.y < len(keys):
            self._carry_out(view(self.selector, keys[event.y], self._now_s()))

    def _carry_out(self, step: Step) -> None:
        self._become(step.selector)
        for act in step.acts:
            match act:
                case View(key):
                    self.post_message(self.Viewed(key, self.selector.entry(key)))
                case Stop(entry):
                    self.post_message(self.Stopped(entry))
                case Leave():
                    self.post_message(self.Left())

    def _become(self, selector: Selector) -> None:
        was_focused, self.selector = self.selector.is_focused, selector
        if was_focused and not selector.rows and self.has_focus:
            self.post_message(self.Left())
        if self._grace is not None:
            self._grace.stop()
            self._grace = None
        if selector.wake_at is not None and self.is_attached:
            wait_s = max(0.01, selector.wake_at - self._now_s())
            self._grace = self.set_timer(wait_s, self._let_go)
        if self._tick is not None:
            (self._tick.resume if selector.rows else self._tick.pause)()
        self._draw()

    def _let_go(self) -> None:
        """Take rows off whose time is over: by a clock of its own, whatever else happens."""
        self._become(expired(self.selector, self._now_s()))

    def _draw(self) -> None:
        width = self.size.width or (self.app.size.width if self.is_attached else 80)
        rows = rows_of_selector(self.selector, width, self._look, self._now_s())
        if len(rows) != len(self._rows):
            self.display = bool(rows)
            self.styles.height = max(1, len(rows))
        self._rows = rows
        self.refresh()

    def on_resize(self) -> None:
        """Draw as wide as it is now."""
        self._draw()

    def render_line(self, y: int) -> Strip:
        """Return one row."""
        width = self.size.width
        if y >= len(self._rows):
            return Strip([Segment(" " * width)])
        _base, background = self.background_colors
        filters = self.get_line_filters()
        self._drawing.draw_with(self._look, self.rich_style, width, filters, background)
        return self._drawing.strip(self._rows[y])
