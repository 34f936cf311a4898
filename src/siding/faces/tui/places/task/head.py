"""The two lines above the tabs: which task it is and how it stands, and the tabs."""

from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from siding.faces.tui.rows.drawing import Drawing
from siding.faces.tui.rows.lines import Pieces, fitted
from siding.faces.tui.rows.styles import PLAIN_LOOK, TEXT
from siding.faces.tui.text import cut, inert
from siding.feed.model import Row

TABS = (
    ("talk", "t", "Talk"),
    ("patch", "p", "Patch"),
    ("steps", "s", "Steps"),
    ("output", "o", "Output"),
)


class Head(Widget):
    """Draws the two lines."""

    DEFAULT_CSS = "Head { height: 2; width: 1fr; }"
    can_focus = False

    def __init__(self) -> None:
        super().__init__()
        self.look = PLAIN_LOOK
        self._drawing = Drawing()
        self._lines: tuple[Pieces, Pieces] = ([], [])

    def show(self, name: Pieces, tabs: Pieces) -> None:
        """Show these lines."""
        if (name, tabs) != self._lines:
            self._lines = (name, tabs)
            self._drawing.forget()
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Return one of the lines."""
        width = self.size.width
        _base, background = self.background_colors
        self._drawing.draw_with(
            self.look, self.rich_style, width, self.get_line_filters(), background
        )
        if y > 1:
            return Strip([Segment(" " * width)])
        return self._drawing.strip(fitted(self._lines[y], width, end=self.look.mark("ellipsis")))


def name_pieces(project: str, task: str, row: Row | None, busy: str) -> Pieces:
    """Return the line of a task: its state, what it does or asks, its agent and its change."""
    found: Pieces = [(f" {inert(project)} / ", "dim"), (inert(task), "bold")]
    if row is not None:
        found += [("   ", TEXT), (row.state.value, row.state.value)]
        if row.what:
            found += [("  ", TEXT), (cut(inert(row.what), 60), TEXT)]
        if row.agent:
            found += [("  ", TEXT), (inert(row.agent), "dim")]
    if busy:
        found += [("   ", TEXT), (inert(busy), "runs")]
    return found


def tab_pieces(active: str, said: str, *, lives: bool) -> Pieces:
    """Return the line of the tabs, and what the active one says of itself."""
    found: Pieces = [(" ", TEXT)]
    for name, key, title in TABS:
        if name == active:
            found += [(f"[{key} {title}]", "bold"), (" ", TEXT)]
        else:
            found += [(f" {key} {title}  ", "dim")]
    if lives:
        found += [(" a Attach  ", "dim")]
    return [*found, ("  ", TEXT), (inert(said), "dim")]
