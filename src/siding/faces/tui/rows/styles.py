"""How everything in the terminal looks: one table of names, and one of marks.

A piece of a row has the name of a style, never a colour. Each state has a mark besides its colour,
so that nothing is lost without colours.
"""

from collections.abc import Mapping
from enum import StrEnum

from rich.style import Style

from siding.ground.namedtuples import NamedTuple

TEXT = "text"


class Palette(StrEnum):
    """Which colours there are."""

    DARK = "dark"
    LIGHT = "light"
    SIXTEEN = "sixteen"  # the terminal's own
    NONE = "none"


class Look(NamedTuple):
    """What the screen can show."""

    palette: Palette = Palette.DARK
    is_ascii: bool = False  # no characters but ASCII

    def mark(self, name: str) -> str:
        """Return the mark of a state."""
        return MARKS[name][self.is_ascii]


PLAIN_LOOK = Look()


class _Looks(NamedTuple):
    dark: str
    light: str
    sixteen: str
    none: str = ""


# Words of `rich.style.Style.parse`.
_TABLE: Mapping[str, _Looks] = {
    TEXT: _Looks("", "", ""),
    "dim": _Looks("#8b949e", "#656d76", "bright_black", "dim"),
    "bold": _Looks("bold", "bold", "bold", "bold"),
    "italic": _Looks("italic", "italic", "italic", "italic"),
    "bold-italic": _Looks("bold italic", "bold italic", "bold italic", "bold italic"),
    "strike": _Looks("strike", "strike", "strike", "strike"),
    "heading": _Looks("bold #79c0ff", "bold #0550ae", "bold blue", "bold underline"),
    "code": _Looks("#a5d6ff", "#0a3069", "cyan", "bold"),
    "link": _Looks("underline #79c0ff", "underline #0969da", "underline blue", "underline"),
    "quote": _Looks("italic #8b949e", "italic #656d76", "italic", "italic"),
    # Who and what, in the transcript
    "you": _Looks("bold #d2a8ff", "bold #8250df", "bold magenta", "bold"),
    "agent": _Looks("bold #7ee787", "bold #1a7f37", "bold green", "bold"),
    "tool": _Looks("bold", "bold", "bold", "bold"),
    # States, as of the rows of the feed
    "waits": _Looks("bold #e3b341", "bold #9a6700", "bold yellow", "bold"),
    "broke": _Looks("bold #ff7b72", "bold #cf222e", "bold red", "bold"),
    "ready": _Looks("#7ee787", "#1a7f37", "green"),
    "runs": _Looks("#79c0ff", "#0969da", "blue"),
    "rests": _Looks("#8b949e", "#656d76", "bright_black", "dim"),
    "done": _Looks("#8b949e", "#656d76", "bright_black", "dim"),
    "good": _Looks("#7ee787", "#1a7f37", "green"),
    "bad": _Looks("#ff7b72", "#cf222e", "red", "bold"),
    "warn": _Looks("#e3b341", "#9a6700", "yellow", "bold"),
    "title": _Looks("bold #8b949e", "bold #656d76", "bold", "bold"),
    "notice": _Looks("bold on #30363d", "bold on #d0d7de", "reverse", "reverse"),
    # Patches
    "file": _Looks(
        "bold #e6edf3 on #21262d", "bold #1f2328 on #eaeef2", "bold reverse", "bold reverse"
    ),
    "hunk": _Looks("#8b949e on #161b22", "#656d76 on #f6f8fa", "cyan", "bold"),
    "number": _Looks("#6e7681", "#8c959f", "bright_black", "dim"),
    "added": _Looks("on #12261e", "on #dafbe1", "green"),
    "removed": _Looks("on #25171c", "on #ffebe9", "red"),
    "added-sign": _Looks(
        "bold #7ee787 on #12261e", "bold #1a7f37 on #dafbe1", "bold green", "bold"
    ),
    "removed-sign": _Looks(
        "bold #ff7b72 on #25171c", "bold #cf222e on #ffebe9", "bold red", "bold"
    ),
    "added-word": _Looks("on #1f572d", "on #aceebb", "bold green", "underline"),
    "removed-word": _Looks("on #7a2428", "on #ffcecb", "bold red", "underline"),
    "comment": _Looks("#d2a8ff", "#8250df", "magenta"),
    "fold": _Looks("#8b949e", "#656d76", "bright_black", "dim"),
    # Source code (`colours.py`)
    "c-comment": _Looks("#8b949e", "#6e7781", "bright_black"),
    "c-keyword": _Looks("#ff7b72", "#cf222e", "magenta"),
    "c-string": _Looks("#a5d6ff", "#0a3069", "cyan"),
    "c-number": _Looks("#79c0ff", "#0550ae", "blue"),
    "c-function": _Looks("#d2a8ff", "#8250df", "blue"),
    "c-decorator": _Looks("#ffa657", "#953800", "yellow"),
    "c-builtin": _Looks("#79c0ff", "#0550ae", "cyan"),
    # Laid over others
    "cursor": _Looks("on #1c2d41", "on #ddf4ff", "reverse", "reverse"),
    "range": _Looks("on #2d2a12", "on #fff8c5", "reverse", "reverse"),
    "hit": _Looks("black on #e3b341", "black on #fae17d", "black on yellow", "reverse"),
    "selected": _Looks("reverse", "reverse", "reverse", "reverse"),
}

# (with Unicode, without)
MARKS: Mapping[str, tuple[str, str]] = {
    "cursor": (">", ">"),
    "range": ("┃", "|"),
    "folded": ("▸", "+"),
    "open": ("▾", "-"),
    "viewed": ("✓", "v"),
    "changed": ("◇", "^"),
    "runs": ("●", "*"),
    "good": ("✓", "v"),
    "bad": ("✗", "x"),
    "waits": ("!", "!"),
    "unseen": ("•", "o"),
    "new-lines": ("▼", "v"),
    "ellipsis": ("…", "~"),
    "dash": ("┄", "-"),
    "bullet": ("•", "*"),
    "bar": ("│", "|"),
    "card-top": ("╭", "+"),
    "card-side": ("│", "|"),
    "card-end": ("╰", "+"),
    "line": ("─", "-"),
    "overwritten": ("↺", "<"),
    "slider": ("▲", "^"),
    "hollow": ("○", "o"),
}

_COLUMNS = {palette: palette.value for palette in Palette}


class Styles(dict[str, Style]):
    """The styles of one palette by name, each made when it is first used.

    A name may be several joined by `+`: each is laid over those before it. `base` is below all,
    and the style called `lay` over all but search hits.
    """

    def __init__(self, palette: Palette, base: Style | None = None, lay: str = "") -> None:
        super().__init__()
        self._palette = palette
        self._base = base or Style()
        self._lay = lay

    def __missing__(self, name: str) -> Style:
        style = self._base
        words = name.split("+")
        if self._lay:
            words.insert(-1 if words[-1] == "hit" else len(words), self._lay)
        for each in words:
            style = style + self._one(each)
        self[name] = style
        return style

    def _one(self, name: str) -> Style:
        if name.startswith("sgr:"):
            return _sgr(name, self._palette)
        return Style.parse(getattr(_TABLE[name], _COLUMNS[self._palette]))


def _sgr(name: str, palette: Palette) -> Style:
    """Return the style that a program asked for; see `name_of` in `output.py`."""
    _, fore, back, flags = name.split(":")
    words = set(filter(None, flags.split(",")))
    colour = palette is not Palette.NONE
    return Style(
        color=f"color({fore})" if fore and colour else None,
        bgcolor=f"color({back})" if back and colour else None,
        bold="bold" in words or None,
        dim="dim" in words or None,
        italic="italic" in words or None,
        underline="under" in words or None,
        reverse="inverse" in words or None,
        strike="strike" in words or None,
    )


def names() -> list[str]:
    """Return the names of all styles."""
    return list(_TABLE)
