"""One line that a person types: the filter, a command, a word to an agent."""

from collections.abc import Callable

from textual.events import Key, Paste
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from siding.faces.tui.cards.card import Line
from siding.faces.tui.rows.drawing import Drawing
from siding.faces.tui.rows.lines import Pieces, fitted
from siding.faces.tui.rows.styles import PLAIN_LOOK, Look
from siding.faces.tui.text import cells, inert


class LinePrompt(Widget, can_focus=False):
    """Asks for one line. `enter` takes it, `escape` leaves it; a pasted Enter is a space."""

    DEFAULT_CSS = "LinePrompt { width: 1fr; height: auto; }"
    takes_text = True

    def __init__(self, look: Look = PLAIN_LOOK) -> None:
        super().__init__()
        self.look = look
        self._label = ""
        self._line = Line()
        self._took: Callable[[str], None] | None = None
        self._changed: Callable[[str], None] | None = None
        self._back: Widget | None = None
        self._drawing = Drawing()

    @property
    def is_open(self) -> bool:
        return self._took is not None

    def ask(
        self,
        label: str,
        took: Callable[[str], None],
        *,
        text: str = "",
        changed: Callable[[str], None] | None = None,
    ) -> None:
        """Ask for a line. `took` gets it; `changed` gets it after each key, "" when it is left."""
        self._label, self._line = label, Line(text)
        self._took, self._changed = took, changed
        if not self.has_focus:
            self._back = self.screen.focused
        self.can_focus = True
        self.screen.set_focus(self)
        self.refresh(layout=True)

    def on_key(self, event: Key) -> None:
        """Take a key."""
        event.stop()
        event.prevent_default()
        took, changed = self._took, self._changed
        if event.key == "escape":
            self._close()
            if changed is not None:
                changed("")
        elif event.key == "enter":
            self._close()
            if took is not None:
                took(self._line.text.strip())
        elif self._line.key(event.key, event.character) and changed is not None:
            changed(self._line.text)
        self.refresh(layout=True)

    def on_paste(self, event: Paste) -> None:
        """Take a pasted text as text: nothing in it is a key."""
        event.stop()
        self._line.text += inert(" ".join(event.text.split()))
        if self._changed is not None:
            self._changed(self._line.text)
        self.refresh(layout=True)

    def _close(self) -> None:
        self._took = self._changed = None
        back, self._back = self._back, None
        self.screen.set_focus(back if back is not None and back.is_attached else None)
        self.can_focus = False

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        del container, viewport, width
        return 1 if self.is_open else 0

    def render_line(self, y: int) -> Strip:
        del y
        width = self.size.width
        self._drawing.draw_with(self.look, self.rich_style, width, (), self.background_colors[1])
        label, text = f"{self._label} ", f"{inert(self._line.text)}_"
        room = max(4, width - cells(label))
        while cells(text) > room:  # its end is where a person types
            text = text[max(1, len(text) - room) :] if text.isascii() else text[1:]
        pieces: Pieces = [(label, "bold"), (text, "text")]
        return self._drawing.strip(fitted(pieces, width))
