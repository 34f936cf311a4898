"""What of a converted script is left to a person: it cannot be run until it is written."""

import ast
from collections.abc import Iterator

from siding.workflows.errors import Problem

RAISE = "by hand: "  # how the message of the error begins that stands in for a statement


def left_to_do(tree: ast.Module) -> Iterator[Problem]:
    """Yield a problem for each statement that was not translated from JavaScript."""
    for node in ast.walk(tree):
        match node:
            case ast.Raise(
                exc=ast.Call(
                    func=ast.Name(id="NotImplementedError"),
                    args=[ast.Constant(value=str() as said)],
                )
            ) if said.startswith(RAISE):
                yield Problem(
                    line=node.lineno,
                    column=node.col_offset + 1,
                    what=f"not translated from JavaScript: {said.removeprefix(RAISE)}",
                    remedy="write it in Python, and take the `raise` out",
                )
