"""What fits what is typed behind an `@` or a `/`: a list above the field."""

import re
from collections.abc import Sequence

from siding.chat.mentions import Mention
from siding.faces.tui.rows.base import Rows
from siding.faces.tui.rows.lines import Pieces, fitted
from siding.faces.tui.rows.styles import TEXT
from siding.faces.tui.text import cut, inert

MOST = 50
_ROWS = 8
_NAME = 30
_FILE = re.compile(r"(?:^|\s)@(\S*)$")
_COMMAND = re.compile(r"/(\S*)$")


def wanted(before: str, row: int) -> tuple[str, str] | None:
    """Return the mark and the letters that a completion is wanted for; None if none is.

    `before` is what stands before the cursor in its line. A command begins the whole prompt.
    """
    if row == 0 and (found := _COMMAND.fullmatch(before)):
        return "/", found[1]
    if found := _FILE.search(before):
        return "@", found[1]
    return None


class Completions(Rows):
    """The list; it never has the focus: the field gives it the keys that move in it."""

    DEFAULT_CSS = "Completions { height: 0; display: none; }"

    def __init__(self) -> None:
        super().__init__(id="completions")
        self.can_focus = False
        self.found: list[Mention] = []

    @property
    def is_open(self) -> bool:
        return bool(self.display)

    def show(self, found: Sequence[Mention]) -> None:
        """Show these; none closes it."""
        self.found = list(found)
        self.display = bool(found)
        self.styles.height = min(_ROWS, len(found))
        self.replaced(len(found))
        self.cursor = -1
        if found:
            self.stand_on(0)

    @property
    def chosen(self) -> Mention | None:
        """The one that is taken."""
        return self.found[self.cursor] if 0 <= self.cursor < len(self.found) else None

    def paint(self, item: int, width: int) -> list[Pieces]:
        """Return a row: what stands in the prompt then, and what it is about."""
        found = self.found[item]
        name = inert(found.value)
        if found.about:
            name = cut(name, _NAME).ljust(_NAME)
        pieces: Pieces = [(name, TEXT), (f"  {inert(found.about)}" if found.about else "", "dim")]
        return [fitted(pieces, width, end=self.look.mark("ellipsis"))]

    def measure(self, item: int, width: int) -> int:
        """Return 1."""
        del item, width
        return 1

    def text_of(self, item: int) -> str:
        """Return what stands in the prompt then."""
        return self.found[item].value
