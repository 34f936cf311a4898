"""Draw with ASCII alone, where the locale has no more: the last thing that each line goes through.

Places have ASCII marks for most of what they draw. This holds for all of it, names of tasks too.
"""

from rich.cells import get_character_cell_size
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

# What stands for characters of our own; each as wide as what it replaces.
_INSTEAD = str.maketrans(
    {
        **dict.fromkeys("─━┄┈╌═\u2013—\u2212", "-"),
        **dict.fromkeys("│┃┆╎║", "|"),
        **dict.fromkeys("╭╮╰╯┌┐└┘├┤┬┴┼", "+"),
        **dict.fromkeys("•●○◆◇■□", "o"),
        **dict.fromkeys("\u203a▸▶→", ">"),
        **dict.fromkeys("\u2039◀←↺", "<"),
        **dict.fromkeys("▾▼↓", "v"),
        **dict.fromkeys("▲↑", "^"),
        "·": "-",
        "…": "~",
        "✓": "v",
        "✗": "x",
        "\u00d7": "x",
        "\u00a0": " ",
    }
)


class OnlyAscii(LineFilter):
    """Replaces every other character, by as many as it has columns."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        del background
        return [
            segment if segment.text.isascii() else Segment(in_ascii(segment.text), segment.style)
            for segment in segments
        ]


def in_ascii(text: str) -> str:
    """Return a text in ASCII, as wide as it was."""
    return "".join(
        each if each.isascii() else "?" * get_character_cell_size(each)
        for each in text.translate(_INSTEAD)
    )
