"""The pane with the answer card of one ask. It takes keys only while it is armed.

It has the focus only then, and losing the focus disarms it. Getting it arms nothing.
"""

import time
from collections.abc import Callable

from textual.events import Blur, Key, Paste
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from siding.faces.tui.cards.arming import Arming
from siding.faces.tui.cards.card import Card, Reply, Wanted, wrapped
from siding.faces.tui.keys import spoken
from siding.faces.tui.rows.drawing import Drawing
from siding.faces.tui.rows.lines import Pieces, fitted
from siding.faces.tui.rows.styles import PLAIN_LOOK, TEXT, Look
from siding.faces.tui.text import cells, inert
from siding.feed.model import Ask

CHORD = "ctrl+y"
_NOT_ARMED = "ctrl+y or tab answers"


class AnswerPane(Widget, can_focus=False):
    """Shows a card, or rows about what asks nothing. `Answered` says what a person wants."""

    DEFAULT_CSS = "AnswerPane { width: 1fr; height: auto; max-height: 50%; }"

    class Answered(Message):
        """A person has answered the card."""

        def __init__(self, pane: "AnswerPane", ask: Ask, wanted: Wanted) -> None:
            super().__init__()
            self.pane, self.ask, self.wanted = pane, ask, wanted

    class Told(Message):
        """The card has a sentence for the person."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(
        self,
        *,
        now: Callable[[], float] = time.monotonic,
        look: Look = PLAIN_LOOK,
    ) -> None:
        super().__init__()
        self.now = now
        self.arming = Arming(now)
        self.card: Card | None = None
        self.asking: Ask | None = None
        self.look = look
        self._rows: list[Pieces] = []  # of what asks nothing
        self._back: Widget | None = None  # what had the focus before the card was armed
        self._busy = ""  # the id of an ask whose answer is being carried out
        self._drawing = Drawing()

    # What is shown.

    def show_card(self, ask: Ask, card: Card) -> None:
        """Show the card of an ask. One that is shown already keeps what was chosen in it."""
        if self.asking is not None and self.asking.id == ask.id and self.card is not None:
            self.asking = ask
            return
        self._leave()
        self.asking, self.card = ask, card
        self.arming.show(ask.id)
        self._redraw()

    def show_rows(self, rows: list[Pieces]) -> None:
        """Show rows about what asks nothing; a card that was there is gone."""
        if self.card is not None:
            self._leave()
        self.asking = self.card = None
        self.arming.show("")
        if rows != self._rows:
            self._rows = rows
        self._redraw()

    def carried_out(self, ask_id: str) -> None:
        """Let the card be answered again: its answer was refused, or is recorded."""
        if self._busy == ask_id:
            self._busy = ""
            self._redraw()

    # Keys.

    def chord(self) -> bool:
        """Arm the card that is shown; return whether there is one."""
        if self.card is None or self._busy == self.arming.shown or not self.arming.chord():
            return False
        if not self.has_focus:
            self._back = self.screen.focused
            self.can_focus = True
            self.screen.set_focus(self)
        self._redraw()
        return True

    def typed(self) -> None:
        """Note a key or a paste that went elsewhere."""
        self.arming.typed()

    def on_key(self, event: Key) -> None:
        """Give a key to the card, if it is armed and the key may be an answer."""
        event.stop()
        event.prevent_default()
        if not self.has_focus:  # it was on its way here when the focus went
            self.arming.typed()
            return
        if event.key == CHORD:
            self.chord()
            return
        if self.card is None or not self.arming.is_armed:
            self._leave()
            return
        if not self.arming.takes():
            self.arming.typed()
            return
        self._replied(self.card.key(spoken_key(event), event.character), event)

    def on_paste(self, event: Paste) -> None:
        """Take no answer from a paste."""
        event.stop()
        self.arming.typed()

    def on_blur(self, event: Blur) -> None:
        """Whoever has the focus now, the card is not armed any more."""
        del event
        self._disarm()

    def _replied(self, reply: Reply, event: Key) -> None:
        if reply.said:
            self.post_message(self.Told(reply.said))
        if reply.wanted is not None and self.asking is not None:
            self._busy = self.asking.id
            self.post_message(self.Answered(self, self.asking, reply.wanted))
            self._leave()
        elif reply.leaves:
            back = self._leave()
            # What is typed after a chord that was pressed by mistake lands where it was meant to.
            if not reply.is_ours and back is not None and getattr(back, "takes_text", False):
                self.arming.typed()
                back.post_message(Key(event.key, event.character))
        self._redraw()

    def _leave(self) -> Widget | None:
        """Disarm the card, and give the focus back to what had it; return that."""
        self._disarm()
        back, self._back = self._back, None
        if self.has_focus:
            there = back is not None and back.is_attached and back.can_focus
            self.screen.set_focus(back if there else None)
        self.can_focus = False
        return back

    def _disarm(self) -> None:
        self.arming.disarm()
        if self.card is not None:
            self.card.rest()
        self._redraw()

    # How it is drawn.

    def lines(self, width: int) -> list[Pieces]:
        """Return what is shown."""
        if self.card is None or self.asking is None:
            return self._rows
        head = self.asking.kind.value if self.asking.kind.value != "question" else "asks"
        who = self.asking.entry.task_name or self.asking.entry.project
        end = self.card.hints() if self.arming.is_armed else _NOT_ARMED
        if self._busy == self.asking.id:
            end = "answering"
        look = "notice" if self.arming.is_armed else "dim"
        bar = self.look.mark("line")
        title: Pieces = [
            (f"{bar * 2} ", "dim"),
            (head, "waits"),
            (f" · {inert(who)} ", "dim"),
            (f"{bar * 2} ", "dim"),
            (end, look),
        ]
        rows = [title]
        if sum(cells(text) for text, _style in title) > width:  # no key is cut off
            rows = [title[:-2], *wrapped(end, max(8, width), look)]
        return [*rows, *self.card.rows(max(8, width))]

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        del container, viewport
        return max(1, len(self.lines(width)))

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        self._drawing.draw_with(self.look, self.rich_style, width, (), self.background_colors[1])
        lines = self.lines(width)
        pieces = lines[y] if y < len(lines) else [("", TEXT)]
        return self._drawing.strip(fitted(pieces, width, end=self.look.mark("ellipsis")))

    def _redraw(self) -> None:
        if self.is_attached:
            self.refresh(layout=True)


def spoken_key(event: Key) -> str:
    """Return the name of a key as cards know it: a character stands for itself."""
    return spoken(event.key, event.character)
