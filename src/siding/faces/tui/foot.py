"""The lines at the foot of every place: its keys, or what was said; then the line of status."""

from collections.abc import Callable, Sequence

from rich.cells import cell_len, chop_cells, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.events import Click
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from siding.faces.tui.keys import Key, fitting
from siding.faces.tui.ports import Severity
from siding.faces.tui.rows.drawing import Drawing
from siding.faces.tui.rows.lines import Pieces, fitted, rows_of
from siding.faces.tui.rows.output import drawn
from siding.faces.tui.rows.styles import PLAIN_LOOK, TEXT, Look
from siding.faces.tui.status_line import Shown
from siding.faces.tui.text import cells
from siding.feed.model import Feed, State
from siding.ground.sgr import Style as PrintedStyle

_GAP = "  "
_PLAIN, _DIM, _BOLD = Style(), Style(dim=True), Style(bold=True)
_LOUD = Style(bold=True, reverse=True)
_MOST_LINES = 4  # of what is said
_MOST_OF_LINE = 3  # rows of the status line
_LEAST_OF_LINE = 30  # columns that it keeps where the state of everything is beside it


class Foot(Widget):
    """Draws the lines of hints and of the status. A click on a hint runs it.

    What is said takes the place of the hints, and as many lines as it needs up to four.
    """

    DEFAULT_CSS = "Foot { dock: bottom; height: auto; width: 1fr; }"
    can_focus = False

    def __init__(self, run: Callable[[Key], None]) -> None:
        super().__init__()
        self._run_key = run
        self._entries: tuple[Key, ...] = ()
        self._hints: list[str] = []
        self._status = ""
        self._line = Shown()
        self._look = PLAIN_LOOK
        self._drawing = Drawing()
        self._said: list[str] = []
        self._severity: Severity = "note"
        self._spots: list[tuple[int, int, Key]] = []

    def show_hints(self, hints: Sequence[tuple[str, Key]]) -> None:
        """Show these hints, the last one in any case."""
        self._hints = [text for text, _key in hints]
        self._entries = tuple(key for _text, key in hints)
        self.refresh()

    def show_status(self, text: str) -> None:
        """Show the state of everything."""
        if text != self._status:
            self._status = text
            self.refresh()

    def show_line(self, line: Shown) -> None:
        """Show what a command has made of the status line, with the state of everything beside.

        What was made without a command is a part of the status.
        """
        line = line if line.is_of_command else Shown()
        if line != self._line:
            self._line = line
            self.refresh(layout=True)

    def use(self, look: Look) -> None:
        """Draw with other colours."""
        self._look = look
        self.refresh()

    @property
    def status(self) -> str:
        """What is said of the state of everything."""
        return self._status

    def say(self, text: str, severity: Severity) -> None:
        """Show a sentence in place of the hints."""
        self._said = text.splitlines() or [""]
        self._severity = severity
        self.refresh(layout=True)

    def hush(self) -> None:
        """Show the hints again."""
        if self._said:
            self._said = []
            self.refresh(layout=True)

    @property
    def said(self) -> str:
        """What was said, as long as it is shown."""
        return "\n".join(self._said)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        del container, viewport
        return len(self._printed()) + max(1, len(self._wrapped(width)))

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        said = self._wrapped(width)
        if y < len(said):
            style = _PLAIN if self._severity == "note" else _LOUD
            return _line([Segment(said[y], style)], width)
        below = y - max(1, len(said))
        return self._hint_line(width) if below < 0 else self._status_line(below, width)

    def _printed(self) -> list[str]:
        """Return the rows of the status line, without colours being obeyed yet; one at least."""
        return self._line.text.split("\n")[:_MOST_OF_LINE]

    def _status_line(self, number: int, width: int) -> Strip:
        """Draw a row of the status line: the last one has the state of everything at its right."""
        if not self._line.text:
            return _line([Segment(cut(self._status, width), _DIM)], width)
        rows = self._printed()
        beside = f" {self._status}" if number == len(rows) - 1 else ""
        left = width - 2 * self._line.padding - cells(beside)
        if not beside or left < _LEAST_OF_LINE:
            beside, left = "", max(1, width - 2 * self._line.padding)
        style = PrintedStyle()
        for each in rows[:number]:  # a colour goes on in the next row
            style = drawn(each, style).style
        pad = (" " * self._line.padding, TEXT)
        shown: Pieces = [pad, *fitted(_pieces(rows[number], style), left), (beside, "dim"), pad]
        _base, background = self.background_colors
        filters = self.get_line_filters()
        self._drawing.draw_with(self._look, self.rich_style, width, filters, background)
        return self._drawing.strip(fitted(shown, width))

    def _wrapped(self, width: int) -> list[str]:
        return [each for line in self._said for each in wrapped(line, max(1, width))][:_MOST_LINES]

    def _hint_line(self, width: int) -> Strip:
        """Draw the hints that fit. The last one, which leads to all keys, is always there."""
        count = fitting(self._hints, width, len(_GAP))
        chosen = [*range(count - 1), len(self._hints) - 1] if count else []
        segments: list[Segment] = []
        self._spots = []
        at = 0
        for number in chosen:
            if segments:
                segments.append(Segment(_GAP, _PLAIN))
                at += len(_GAP)
            text = self._hints[number]
            key, _space, rest = text.partition(" ")
            segments += [Segment(key, _BOLD), Segment(f" {rest}", _DIM)]
            self._spots.append((at, at + len(text), self._entries[number]))
            at += len(text)
        return _line(segments, width)

    def on_click(self, event: Click) -> None:
        """Run the hint that was clicked."""
        if self._said or event.y != 0:
            self.hush()
            return
        for begin, end, key in self._spots:
            if begin <= event.x < end:
                self._run_key(key)
                return


def _pieces(text: str, style: PrintedStyle) -> Pieces:
    """Return what is drawn of a printed line: colours obeyed, everything else inert."""
    line = drawn(text, style).line
    return rows_of(line, max(1, cells(line.text)), "dim")[0] if line.text else []


def _line(segments: list[Segment], width: int) -> Strip:
    return Strip(segments).adjust_cell_length(width)


def cut(text: str, columns: int) -> str:
    """Return a text cut to so many columns."""

    return text if cell_len(text) <= columns else set_cell_size(text, columns)


def wrapped(text: str, columns: int) -> list[str]:
    """Return a text in lines of at most so many columns, broken between words where it can be."""

    lines: list[str] = []
    line = ""
    for word in text.split(" "):
        joined = f"{line} {word}" if line else word
        if cell_len(joined) <= columns:
            line = joined
            continue
        if line:
            lines.append(line)
        pieces = chop_cells(word, columns) if cell_len(word) > columns else [word]
        lines += pieces[:-1]
        line = pieces[-1] if pieces else ""
    return [*lines, line]


def waiting_in(feed: Feed) -> int:
    """Return how many rows wait, and how many asks that are of none."""
    return len(feed.in_state(State.WAITS)) + sum(not ask.row for ask in feed.asks)


def status_of(feed: Feed, is_there: bool) -> list[str]:
    """Return what the line at the foot says about everything."""
    if not is_there and not feed.rows:
        return ["reading"]
    counts = {state: len(feed.in_state(state)) for state in State}
    counts[State.WAITS] = waiting_in(feed)
    shown = [
        f"{counts[state]} {word}"
        for state, word in (
            (State.WAITS, "wait"),
            (State.BROKE, "broke"),
            (State.READY, "ready"),
            (State.RUNS, "run"),
        )
        if counts[state]
    ]
    problems = [f"{len(feed.problems)} cannot be read"] if feed.problems else []
    return [", ".join(shown) or "all quiet", *problems]
