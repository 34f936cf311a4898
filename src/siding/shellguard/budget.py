"""A limit on the work of one verdict, counted in units so that every machine decides alike.

One unit stands for about a microsecond of an ordinary computer: a word read, a value made, a path
looked at. A clock would make verdicts depend on what else the machine is doing. A line that needs
more than `MOST_UNITS` gets the action `ask`.
"""

MOST_UNITS = 36_000  # ordinary scripts of 10,000 characters need up to 30,000
LONGEST_LINE = 100_000  # characters; longer ones are not read at all
LONGEST_VALUE = 65_536  # characters of a variable, an output, or the words of one command
DEEPEST_COMMAND = 60  # commands and expansions inside one another


class TooMuch(Exception):
    """The line exceeds a limit. The engine catches this and asks about the line as a whole."""


class Budget:
    """Counts the work of one verdict."""

    __slots__ = ("depth", "used")

    def __init__(self) -> None:
        self.used = 0
        self.depth = 0

    def spend(self, units: int, doing: str = "judging it") -> None:
        """Count `units` before the work is done; raise TooMuch past MOST_UNITS.

        `doing` begins the sentence a person reads: "expanding braces takes more than ...".
        """
        self.used += units
        if self.used > MOST_UNITS:
            raise TooMuch(f"{doing} takes more than the {MOST_UNITS:,} steps a verdict may take")

    def text(self, length: int, doing: str = "reading its text") -> None:
        """Count handling `length` characters; raise TooMuch past LONGEST_VALUE."""
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
        """Return `text` with every `mark` replaced by `item`; raise TooMuch past LONGEST_VALUE."""
        self.text(len(text) + text.count(mark) * len(item), "filling in a command")
        return text.replace(mark, item)
