"""The first start: what was found, and one question. Any key leaves it, and it never comes again.

Nothing is written before it is left. ``terminal/begun`` in the home says that it was shown.
"""

import os
import shutil
import time
from collections.abc import Callable, Mapping
from contextlib import suppress

from rich.segment import Segment
from textual.app import ComposeResult
from textual.events import Click, Paste
from textual.events import Key as KeyEvent
from textual.screen import ModalScreen
from textual.strip import Strip
from textual.widget import Widget

from siding.agents.table import AGENTS
from siding.faces.tui.foot import wrapped
from siding.faces.tui.rows.styles import Look, Palette, Styles
from siding.ground.namedtuples import NamedTuple
from siding.guard.guard import Guard
from siding.record.place.wiring import App

GUARDS = "g"
_READ_S = 0.4  # a key that comes sooner was not meant for what is shown
_WIDEST = 78
_BACKGROUNDS = {
    Palette.DARK: "for a dark background",
    Palette.LIGHT: "for a light background",
    Palette.SIXTEEN: "the sixteen of the terminal",
    Palette.NONE: "none, as NO_COLOR or the settings say",
}


class Found(NamedTuple):
    """What the first start says."""

    agents: tuple[str, ...]  # that are installed
    guard: Guard
    hooks: int  # projects whose repository brings hooks that nobody has allowed or refused
    look: Look


def is_first(app: App) -> bool:
    """Tell whether the first start was not shown yet in this home."""
    return not os.path.lexists(app.home.terminal_dir / "begun")


def remember(app: App) -> None:
    """Keep that it was shown."""
    with suppress(OSError):  # a home that cannot be written: it is shown again
        app.home.terminal_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        (app.home.terminal_dir / "begun").touch(mode=0o600)


def installed(env: Mapping[str, str]) -> tuple[str, ...]:
    """Return the programs of agents that are on the path."""
    path = env.get("PATH", "")
    found = [
        next((each for each in agent.programs if shutil.which(each, path=path)), "")
        for agent in AGENTS
    ]
    return tuple(each for each in found if each)


def lines_of(found: Found) -> list[str]:
    """Return what is said, a paragraph each."""
    agents = ", ".join(found.agents) or "none on the path; any command can be run as one"
    lines = [
        "Siding shows here what waits for you, broke, is ready and runs, in all projects.",
        f"Colours: {_BACKGROUNDS[found.look.palette]}. The setting terminal.theme changes that.",
        f"Agents found: {agents}.",
    ]
    if found.guard is Guard.UNASKED:
        lines.append(
            f"Guard: agents can run in a sandbox, with their commands judged before they run. "
            f"{GUARDS} turns that on for all projects; siding guard off turns it off again."
        )
    else:
        lines.append(f"Guard: {found.guard}. siding guard changes that.")
    if found.hooks:
        lines.append("Hooks: a repository brings some. They run only once you allow them, below.")
    guards = f"{GUARDS} turns the guard on. " if found.guard is Guard.UNASKED else ""
    lines.append(f"{guards}Any other key goes on and changes nothing.")
    return lines


class First(ModalScreen[bool]):
    """Shows it over the first place. It is left with whether the guard is to be turned on."""

    DEFAULT_CSS = "First { align: center middle; background: transparent; }"

    def __init__(self, found: Found, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._found = found
        self._clock = clock
        self._shown_at = clock()

    def compose(self) -> ComposeResult:
        yield _Lines(lines_of(self._found), self._found.look)

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
    """Draws paragraphs in a box without lines."""

    def __init__(self, paragraphs: list[str], look: Look) -> None:
        super().__init__()
        self._paragraphs = paragraphs
        self._looks = Styles(look.palette)
        self._rows: list[str] = []

    def on_mount(self) -> None:
        """Take the size that the lines need."""
        self.on_resize()

    def on_resize(self) -> None:
        """Wrap again."""
        width = max(10, min(_WIDEST, self.app.size.width - 2))
        self._rows = []
        for paragraph in self._paragraphs:
            self._rows += ["", *wrapped(paragraph, width - 4)]
        self._rows.append("")
        self.styles.width = width
        self.styles.height = min(len(self._rows), self.app.size.height)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        text = self._rows[y] if y < len(self._rows) else ""
        segment = Segment(f"  {text}".ljust(self.size.width), self._looks["notice"])
        return Strip([segment]).adjust_cell_length(self.size.width)
