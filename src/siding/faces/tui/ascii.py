"""Draw with ASCII alone, where the locale has no more: the last thing that each line goes through.

Places have ASCII marks for most of what they draw. This holds for all of it, names of tasks too.
"""

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from siding.faces.tui.text import in_ascii


class OnlyAscii(LineFilter):
    """Replaces every other character, by as many as it has columns."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        del background
        return [
            segment if segment.text.isascii() else Segment(in_ascii(segment.text), segment.style)
            for segment in segments
        ]
