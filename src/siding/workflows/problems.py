"""What the checker finds in a script."""

import ast

from siding.ground.namedtuples import NamedTuple


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


def problem_at(node: ast.AST, what: str, remedy: str, *, is_warning: bool = False) -> Problem:
    """Return a problem with what stands at a node of a script."""
    line, column = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
    return Problem(line=line, column=column + 1, what=what, remedy=remedy, is_warning=is_warning)
