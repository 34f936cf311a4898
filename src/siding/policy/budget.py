"""The work a verdict may take: counted, so that a line has the same verdict on every machine.

One unit stands for about a microsecond of an ordinary computer: a word read, a value made, a path
looked at. It is a count and not a clock, because a clock would make verdicts depend on what else
the machine is doing. A line that needs more is a question.
"""

MOST_UNITS = 36_000  # ordinary scripts of 10,000 characters need up to 30,000
LONGEST_LINE = 100_000  # characters; longer ones are not read at all
LONGEST_VALUE = 65_536  # characters of a variable, an output, or the words of one command
DEEPEST_COMMAND = 60  # commands and expansions inside one another


class TooMuch(Exception):
    """More than is judged; the line is asked about as a whole."""


class Budget:
    """Counts the work of one verdict."""

    __slots__ = ("depth", "used")

    def __init__(self) -> None:
        self.used = 0
        self.depth = 0

    def spend(self, units: int, doing: str = "judging it") -> None:
        """Count work that is about to be done; raise TooMuch when there is too much of it."""
        self.used += units
        if self.used > MOST_UNITS:
            raise TooMuch(f"{doing} takes more than the {MOST_UNITS:,} steps a verdict may take")

    def text(self, length: int, doing: str = "reading its text") -> None:
        """Count the handling of a text; raise TooMuch when it is longer than any value may be."""
        if length > LONGEST_VALUE:
            raise TooMuch(f"{doing} makes a text of more than {LONGEST_VALUE:,} characters")
        self.spend(length // 64, doing)

    def enter(self) -> None:
        """Count one level of nesting; `leave` gives it back."""
        self.depth += 1
        if self.depth > DEEPEST_COMMAND:
            raise TooMuch(f"it is nested more than {DEEPEST_COMMAND} levels deep")

    def leave(self) -> None:
        """Leave a level that `enter` counted."""
        self.depth -= 1

    def replaced(self, text: str, mark: str, item: str) -> str:
        """Return `text` with every `mark` replaced, unless that is longer than a value may be."""
        self.text(len(text) + text.count(mark) * len(item), "filling in a command")
        return text.replace(mark, item)
