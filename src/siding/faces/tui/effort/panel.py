"""The panel of efforts over the place. It is left with what was chosen."""

import time

from rich.segment import Segment
from textual.app import ComposeResult
from textual.events import Key as KeyEvent
from textual.events import Resize
from textual.screen import ModalScreen
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from siding.faces.tui.effort.drawing import NARROW, rows_of_panel, ultra_at, width_of
from siding.faces.tui.effort.model import Left, Panel, Position, press
from siding.faces.tui.effort.ripple import FRAME_S, with_ripples
from siding.faces.tui.keys import spoken
from siding.faces.tui.rows.drawing import Drawing
from siding.faces.tui.rows.lines import Pieces, fitted
from siding.faces.tui.rows.styles import TEXT, Look

_MARGIN = 2  # columns left and right of the text


class PanelRows(Widget):
    """Draws the rows of a panel."""

    can_focus = False

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._rows: list[Pieces] = []
        self._drawing = Drawing()

    def show(self, panel: Panel, time_ms: float | None = None) -> None:
        """Show a panel; `time_ms` of the ripples behind it, None for none."""
        columns = self.app.size.width
        rows, width = rows_of_panel(panel, columns, self._look), width_of(columns)
        if time_ms is not None:
            place = self._place_of_ultra(columns, len(rows))
            rows = with_ripples(
                rows,
                width,
                ultra_at(columns, place),
                time_ms,
                is_ascii=self._look.is_ascii,
                only=place if columns < NARROW else None,
            )
        self._rows = rows
        self.styles.width = min(width + 2 * _MARGIN, columns)
        self.styles.height = len(rows)
        self.refresh()

    @staticmethod
    def _place_of_ultra(columns: int, count: int) -> int:
        """Return the row of the last position, counted from the hint below it."""
        return count - 2 if columns < NARROW else count - 5

    def render_line(self, y: int) -> Strip:
        """Return one row of the panel."""
        width = self.size.width
        if y >= len(self._rows):
            return Strip([Segment(" " * width)])
        _base, background = self.background_colors
        filters = self.get_line_filters()
        self._drawing.draw_with(self._look, self.rich_style, width, filters, background)
        pad = (" " * _MARGIN, TEXT)
        inner = fitted(self._rows[y], max(0, width - 2 * _MARGIN), end=self._look.mark("ellipsis"))
        return self._drawing.strip(fitted([pad, *inner, pad], width))


class EffortPanel(ModalScreen[Left]):
    """The panel: it takes all keys until it is left."""

    DEFAULT_CSS = """
    EffortPanel { align: center middle; background: transparent; }
    """

    def __init__(self, panel: Panel, look: Look) -> None:
        super().__init__()
        self.panel = panel
        self._rows = PanelRows(look)
        self._began = time.monotonic()
        self._frames: Timer | None = None

    def compose(self) -> ComposeResult:
        yield self._rows

    def on_mount(self) -> None:
        """Show the panel."""
        self._frames = self.set_interval(FRAME_S, self._frame, pause=True)
        self._show(self.panel)

    def on_resize(self, event: Resize) -> None:
        """Be a slider or a list, as there is room."""
        del event
        self._show(self.panel)

    def on_key(self, event: KeyEvent) -> None:
        """Move, choose, or leave."""
        event.stop()
        event.prevent_default()
        after = press(self.panel, spoken(event.key, event.character))
        if isinstance(after, Left):
            self.dismiss(after)
        else:
            self._show(after)

    def action_interrupted(self) -> None:
        """Leave it: ctrl+c is no request to leave Siding here."""
        after = press(self.panel, "ctrl+c")
        if isinstance(after, Left):
            self.dismiss(after)

    def _show(self, panel: Panel) -> None:
        self.panel = panel
        ripples = panel.cursor is Position.ULTRA and not panel.refusal
        if self._frames is not None:
            (self._frames.resume if ripples else self._frames.pause)()
        self._frame() if ripples else self._rows.show(panel)

    def _frame(self) -> None:
        self._rows.show(self.panel, (time.monotonic() - self._began) * 1000)
