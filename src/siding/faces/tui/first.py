"""The first start: what was found, and one question. Any key leaves it, and it never comes again.

Nothing is written before it is left.
"""

import time
from collections.abc import Callable

from rich.segment import Segment
from textual.app import ComposeResult
from textual.events import Click, Paste
from textual.events import Key as KeyEvent
from textual.screen import ModalScreen
from textual.strip import Strip
from textual.widget import Widget

from siding.faces.tui.foot import wrapped
from siding.faces.tui.found import Found
from siding.faces.tui.rows.styles import Look, Palette, Styles
from siding.guard.guard import Guard

GUARDS = "g"
_READ_S = 0.4  # a key that comes sooner was not meant for what is shown
_WIDEST = 78
_BACKGROUNDS = {
    Palette.DARK: "for a dark background",
    Palette.LIGHT: "for a light background",
    Palette.SIXTEEN: "the sixteen of the terminal",
    Palette.NONE: "none, as NO_COLOR or the settings say",
}


def lines_of(found: Found, look: Look) -> list[str]:
    """Return what is said, a paragraph each."""
    lines = [
        "Siding shows here what waits for you, broke, is ready and runs, in all projects.",
        f"Colours: {_BACKGROUNDS[look.palette]}. The setting terminal.theme changes that.",
        found.agents_line,
    ]
    if found.guard is Guard.UNASKED:
        lines.append(
            f"Guard: agents can run in a sandbox, with their commands judged before they run. "
            f"{GUARDS} turns that on for all projects; later, siding guard on or off does it."
        )
    else:
        lines.append(f"Guard: {found.guard}. siding guard changes that.")
    if found.hooks:
        lines.append(
            "Hooks: a repository brings some. They run only once you allow them, in the list."
        )
    guards = f"{GUARDS} turns the guard on. " if found.guard is Guard.UNASKED else ""
    lines.append(f"{guards}Any other key goes on and changes nothing.")
    return lines


class First(ModalScreen[bool]):
    """Shows it over the first place. It is left with whether the guard is to be turned on."""

    DEFAULT_CSS = "First { align: center middle; background: transparent; }"

    def __init__(
        self, found: Found, look: Look, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__()
        self._found = found
        self._look = look
        self._clock = clock
        self._shown_at = clock()

    def compose(self) -> ComposeResult:
        yield _Lines(lines_of(self._found, self._look), self._look)

    def on_mount(self) -> None:
        """Count from when it is on the screen."""
        self._shown_at = self._clock()

    def on_key(self, event: KeyEvent) -> None:
        """Leave it."""
        event.stop()
        event.prevent_default()
        if self._clock() - self._shown_at >= _READ_S:
            is_asked = self._found.guard is Guard.UNASKED
            self.dismiss(is_asked and event.character == GUARDS)

    def on_paste(self, event: Paste) -> None:
        """A paste is no key."""
        event.stop()

    def on_click(self, event: Click) -> None:
        """Leave it."""
        event.stop()
        self.dismiss(False)


class _Lines(Widget):
    """Draws paragraphs over the whole width, so that nothing of the place is beside them."""

    def __init__(self, paragraphs: list[str], look: Look) -> None:
        super().__init__()
        self._paragraphs = paragraphs
        self._looks = Styles(look.palette)
        self._rows: list[str] = []
        self._left = 0

    def on_mount(self) -> None:
        """Take the size that the lines need."""
        self.on_resize()

    def on_resize(self) -> None:
        """Wrap again."""
        whole = self.app.size.width
        width = max(10, min(_WIDEST, whole - 2))
        self._left = max(0, (whole - width) // 2)
        self._rows = []
        for paragraph in self._paragraphs:
            self._rows += ["", *wrapped(paragraph, width - 4)]
        self._rows.append("")
        self.styles.width = whole
        self.styles.height = min(len(self._rows), self.app.size.height)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        text = self._rows[y] if y < len(self._rows) else ""
        shown = f"{' ' * self._left}  {text}".ljust(self.size.width)
        segment = Segment(shown, self._looks["notice"])
        return Strip([segment]).adjust_cell_length(self.size.width)
