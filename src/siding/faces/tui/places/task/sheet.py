"""A sheet above the foot of the task's screen: a plan, a choice; and a field to type in."""

from collections.abc import Callable, Sequence

from textual.events import Key as KeyEvent

from siding.faces.tui.places.task.field import Field
from siding.faces.tui.rows.base import Rows
from siding.faces.tui.rows.lines import Line, Pieces, rows_of
from siding.faces.tui.rows.scrolling import MARGIN
from siding.faces.tui.rows.wrap import height
from siding.faces.tui.text import Span
from siding.ground.namedtuples import NamedTuple

TYPING = "enter takes it   escape leaves it   ctrl+j begins a line"  # what its keys do


class Choice(NamedTuple):
    """A line of a sheet. `key` names what is chosen with it; "" cannot be chosen."""

    pieces: Pieces
    key: str = ""


class Sheet(Rows):
    """Lines, and the keys that count while they are shown."""

    DEFAULT_CSS = """
    Sheet { height: 8; max-height: 60%; display: none; }
    """

    def __init__(self) -> None:
        super().__init__(id="sheet")
        self.lines: list[Choice] = []

    @property
    def is_open(self) -> bool:
        return bool(self.display)

    def open(self, lines: Sequence[Choice]) -> None:
        """Show these lines in place of others; the cursor is on the first that can be chosen."""
        self.lines = list(lines)
        self.cursor = -1
        self.display = True
        columns, rows = self.screen.size
        wanted = sum(self.measure(item, columns - MARGIN) for item in range(len(self.lines)))
        self.styles.height = min(wanted + 1, max(6, rows * 6 // 10))
        self.replaced(len(lines))
        first = next((at for at, each in enumerate(self.lines) if each.key), -1)
        self.go_to_row(0)
        if first >= 0:
            self.stand_on(first)
        self.focus()

    def close(self) -> None:
        self.display = False

    @property
    def chosen(self) -> str:
        """The key of the line with the cursor; "" if none can be chosen."""
        return self.lines[self.cursor].key if 0 <= self.cursor < len(self.lines) else ""

    def paint(self, item: int, width: int) -> list[Pieces]:
        """Return the rows of a line."""
        line = self._line(item)
        return rows_of(line, max(1, width))

    def measure(self, item: int, width: int) -> int:
        """Return how many rows a line takes."""
        return height(self._line(item).text, max(1, width))

    def _line(self, item: int) -> Line:
        text, spans = "", []
        for piece, style in self.lines[item].pieces:
            spans.append(Span(len(text), len(text) + len(piece), style))
            text += piece
        return Line(text, spans)

    def text_of(self, item: int) -> str:
        """Return the text of a line."""
        return "".join(text for text, _style in self.lines[item].pieces)

    def is_stop(self, item: int) -> bool:
        """Tell whether a line can be chosen."""
        return bool(self.lines[item].key)


class Typing(Field):
    """A field of a few lines: Enter takes it, escape leaves it, ctrl+j begins another line."""

    DEFAULT_CSS = """
    Typing, Typing:focus { height: 5; border: none; border-top: solid ansi_default; padding: 0; }
    Typing { display: none; }
    """

    def __init__(self) -> None:
        super().__init__(id="typing")
        self.cursor_blink = False
        self._then: Callable[[str], None] | None = None
        self._left: Callable[[], None] | None = None

    @property
    def is_open(self) -> bool:
        return bool(self.display)

    def ask(
        self,
        title: str,
        then: Callable[[str], None],
        *,
        text: str = "",
        left: Callable[[], None] | None = None,
    ) -> None:
        """Ask for a text, and give it to `then`."""
        self._then, self._left = then, left
        self.border_title = title
        self.text = text
        self.move_cursor(self.document.end)
        self.display = True
        self.focus()

    def takes(self, event: KeyEvent) -> bool:
        """Take the text, leave it, or begin a line."""
        if event.key in ("enter", "escape"):
            self._done(taken=event.key == "enter")
            return True
        if event.key in ("ctrl+j", "alt+enter", "shift+enter"):
            self.insert("\n")
            return True
        return False

    def _done(self, *, taken: bool) -> None:
        then, left, text = self._then, self._left, self.text
        self.display = False
        self._then = self._left = None
        if left is not None:
            left()
        if taken and then is not None:
            then(text)
