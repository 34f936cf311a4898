"""Lines of a part that grows, or is a patch: as `Transcript` shows them below a tool."""

from collections.abc import Sequence

from siding.faces.tui.rows.lines import Line, line_of
from siding.faces.tui.rows.output import drawn
from siding.faces.tui.text import Span
from siding.ground.sgr import Style

MOST = 4_000  # lines that are kept of what still grows
_SIGNS = {"+": "added", "-": "removed", "@": "hunk"}


class GrowingLines:
    """Text that comes in pieces: the last line may be unfinished."""

    def __init__(self, text: str = "") -> None:
        self._texts: list[str] = []
        if text:
            self.add(text)

    def __len__(self) -> int:
        return len(self._texts)

    @property
    def first(self) -> str:
        """The first line that says something."""
        return next((each.strip() for each in self._texts if each.strip()), "")

    def add(self, piece: str) -> None:
        """Take the next piece. What comes when there is no more room is not shown."""
        first, *more = piece.split("\n")
        if self._texts:
            self._texts[-1] += first
        else:
            self._texts.append(first)
        self._texts += more[: max(0, MOST - len(self._texts))]

    def line(self, number: int) -> Line:
        """Return a line, with the colours that it was printed in."""
        return drawn(self._texts[number], Style()).line

    def look(self) -> int:
        """Nothing comes by itself."""
        return 0


class PatchLines:
    """The lines of a patch, each in the colour of its sign."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = tuple(texts)

    def __len__(self) -> int:
        return len(self._texts)

    def line(self, number: int) -> Line:
        """Return a line."""
        text = self._texts[number]
        style = _SIGNS.get(text[:1], "")
        return line_of(text, [Span(0, len(text), style)] if style else [])

    def look(self) -> int:
        """Nothing comes by itself."""
        return 0
