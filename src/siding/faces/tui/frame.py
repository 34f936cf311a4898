"""The last frame of the screen, as text: what is shown while the screen is loaded.

``terminal/frame`` in the home: its first line has the columns, the others are those of the screen.
It is replaced whole when the screen is left, and nothing is lost with it.
"""

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from siding.record.place.wiring import App

if TYPE_CHECKING:
    from textual.screen import Screen

_MOST = 200_000  # bytes
_READING = "siding: reading what waits, broke, is ready and runs"


def first_frame(app: App, columns: int, lines: int) -> str:
    """Return what to draw on an empty screen of this size."""
    kept = _kept(app, columns)
    if not kept:
        return _READING[:columns]
    return "\r\n".join(line for line in kept[:lines])


def keep_frame(app: App, columns: int, rows: list[str]) -> None:
    """Keep the lines of the screen for the next start."""
    path = app.home.terminal_dir / "frame"
    text = "\n".join([str(columns), *rows])
    with suppress(OSError):  # a home that cannot be written, or a full disk: it is only a picture
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        new = path.with_name(f"frame.{os.getpid()}")
        fd = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(fd, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
        new.replace(path)


def _kept(app: App, columns: int) -> list[str]:
    """Return the lines that were kept, if the screen was as wide as it is now."""
    try:
        with (app.home.terminal_dir / "frame").open(encoding="utf-8", errors="replace") as file:
            first, *rows = file.read(_MOST).split("\n")
    except OSError:
        return []
    # The file is ours; still, nothing in it may be more than text to the terminal.
    clean = ["".join(each for each in row if each.isprintable()) for row in rows]
    return clean if first == str(columns) else []


def lines_of(screen: "Screen[Any]") -> list[str]:
    """Return the lines of a screen as text."""
    strips = screen._compositor.render_strips()
    return ["".join(segment.text for segment in strip).rstrip() for strip in strips]
