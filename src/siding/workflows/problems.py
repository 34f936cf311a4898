"""What the checker finds in a script."""

from siding.namedtuples import NamedTuple


class Problem(NamedTuple):
    """Something that keeps a script from being run, or (`is_warning`) that its author should see.

    `line` and `column` count from 1.
    """

    line: int
    column: int
    what: str
    remedy: str
    is_warning: bool = False

    def __str__(self) -> str:
        return f"line {self.line}: {self.what}; {self.remedy}"
