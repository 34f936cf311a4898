"""Write to the terminal: results, notes, tables, colours; make untrusted text inert first."""

import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from siding.faces.cli.screen.progress import ProgressLine

# Characters that draw nothing but change what is drawn: terminal escapes and other controls,
# and the Unicode controls that reorder text (bidi) or hide in it.
_INVISIBLE = {
    *range(0x20),
    0x7F,
    *range(0x80, 0xA0),
    0x200B,
    *range(0x200E, 0x2010),
    *range(0x202A, 0x202F),
    *range(0x2066, 0x206A),
    0xFEFF,
}
_INERT = {code: f"\\u{code:04x}" if code > 0xFF else f"\\x{code:02x}" for code in _INVISIBLE}
_INERT |= {ord("\t"): "\\t", ord("\n"): "\\n", ord("\r"): "\\r"}
_INERT_LINES = {code: text for code, text in _INERT.items() if chr(code) not in "\t\n"}

_STYLES = {
    "bold": "1",
    "dim": "2",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "blue": "34",
    "magenta": "35",
    "cyan": "36",
}


def inert(text: str, *, lines: bool = False) -> str:
    """Return `text` with every control and bidi character spelled out; `lines` keeps ``\\n\\t``."""
    if text.isascii() and text.isprintable():
        return text
    safe = text.translate(_INERT_LINES if lines else _INERT)
    return safe.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


class Screen:
    """Writes results to standard output and notes about them to standard error."""

    def __init__(
        self,
        *,
        env: Mapping[str, str],
        out: TextIO,
        err: TextIO,
        colour: str = "auto",
        quiet: bool = False,
        verbose: bool = False,
    ) -> None:
        self.out = out
        self.err = err
        self.quiet = quiet
        self.verbose = verbose
        self.env = env
        self._progress: ProgressLine | None = None
        self.columns = terminal_columns() if out.isatty() else None  # None: no terminal, no limit
        self._colour_out = _wants_colour(colour, env, out)
        self._colour_err = _wants_colour(colour, env, err)

    @property
    def colour(self) -> bool:
        """Whether results are coloured."""
        return self._colour_out

    def use_colour(self, wanted: bool) -> None:
        """Apply the project's setting `color`, which can switch colours off but not on."""
        self._colour_out = self._colour_out and wanted
        self._colour_err = self._colour_err and wanted

    def style(self, text: str, *styles: str) -> str:
        """Return `text` for standard output, coloured if that is wanted."""
        return _styled(text, styles) if self._colour_out and text else text

    def print(self, text: str = "") -> None:
        """Write a line of results."""
        self.out.write(text + "\n")

    def note(self, text: str, *styles: str) -> None:
        """Write a line about what happened; not in quiet mode."""
        if not self.quiet:
            self._say(text, styles)

    def detail(self, text: str) -> None:
        """Write a line that only verbose mode shows."""
        if self.verbose:
            self._say(text, ("dim",))

    def quote(self, text: str) -> None:
        """Show the last lines of another program's output, indented."""
        for line in text.strip().splitlines()[-20:]:
            self.note(f"  | {inert(line)}", "dim")

    def warn(self, text: str) -> None:
        """Write a line that must be seen, also in quiet mode."""
        self._say(f"warning: {text}", ("yellow",))

    def _say(self, text: str, styles: Sequence[str]) -> None:
        line = f"siding: {text}"
        self.progress("")
        self.out.flush()
        self.err.write((_styled(line, styles) if self._colour_err and styles else line) + "\n")
        self.err.flush()

    def progress(self, doing: str) -> None:
        """Show what goes on, on a terminal and if it takes a while; ``""`` removes the line."""
        if self.quiet or not self.err.isatty():
            return
        if self._progress is None:
            if not doing:
                return
            from siding.faces.cli.screen.progress import ProgressLine

            self._progress = ProgressLine(self.err)
        self._progress.show(doing)


def columns_of(text: str) -> int:
    """Return the columns `text` takes in a terminal."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(
        0 if combining(character) else 2 if east_asian_width(character) in "WF" else 1
        for character in text
    )


def shorten(text: str, columns: int) -> str:
    """Return `text` cut to `columns`, with an ellipsis where it was cut."""
    if columns_of(text) <= columns:
        return text
    taken = kept = 0
    for character in text:
        taken += columns_of(character)
        if taken > columns - 1:
            break
        kept += 1
    return text[:kept].rstrip() + "…"


def _styled(text: str, styles: Sequence[str]) -> str:
    codes = ";".join(_STYLES[style] for style in styles)
    return f"\x1b[{codes}m{text}\x1b[0m"


def _wants_colour(wish: str, env: Mapping[str, str], stream: TextIO) -> bool:
    """https://no-color.org: a non-empty NO_COLOR switches colours off unless asked for."""
    if wish != "auto":
        return wish == "always"
    if env.get("NO_COLOR") or env.get("TERM") == "dumb":
        return False
    return bool(env.get("FORCE_COLOR")) or stream.isatty()


def terminal_columns() -> int:
    """Return how wide the terminal is, 100 when there is none."""
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns
    except (OSError, ValueError):
        return 100
