"""Standard output of a conversation line by line: whether a line has begun is known."""

import sys

from siding.faces.cli.screen.screen import Screen


class Output:
    """Writes text as it comes, and lines of their own between."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._at_start = True

    def line(self, text: str, style: str) -> None:
        """Write a line, on a line of its own."""
        self.fresh()
        self.write(self._screen.style(text, style) + "\n")

    def ask(self, text: str) -> None:
        """Write what stands before something that is typed."""
        self.fresh()
        self.write(self._screen.style(text, "bold"))
        self._at_start = True  # the person's newline ends it

    def fresh(self) -> None:
        """End a line that has begun."""
        if not self._at_start:
            self.write("\n")

    def write(self, text: str) -> None:
        """Write text."""
        if text:
            sys.stdout.write(text)
            sys.stdout.flush()
            self._at_start = text.endswith("\n")
