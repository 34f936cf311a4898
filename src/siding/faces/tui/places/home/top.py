"""The line above the list: how many rows are in each state, the filter, what has moved."""

from textual.strip import Strip
from textual.widget import Widget

from siding.faces.tui.rows.drawing import Drawing
from siding.faces.tui.rows.lines import Pieces, fitted
from siding.faces.tui.rows.styles import PLAIN_LOOK, Look


class TopLine(Widget, can_focus=False):
    """Draws one line of pieces."""

    DEFAULT_CSS = "TopLine { height: 1; width: 1fr; }"

    def __init__(self, look: Look = PLAIN_LOOK) -> None:
        super().__init__()
        self.look = look
        self._pieces: Pieces = []
        self._drawing = Drawing()

    def show(self, pieces: Pieces) -> None:
        """Show these pieces."""
        if pieces != self._pieces:
            self._pieces = pieces
            self.refresh()

    def render_line(self, y: int) -> Strip:
        del y
        width = self.size.width
        self._drawing.draw_with(self.look, self.rich_style, width, (), self.background_colors[1])
        return self._drawing.strip(fitted(self._pieces, width))
