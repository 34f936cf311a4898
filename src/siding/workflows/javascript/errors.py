"""What keeps a JavaScript source from being read or written as Python, and what is left of it.

A statement that is not translated becomes a `raise`. A script that has one cannot be run until a
person has written it.
"""

import ast
from collections.abc import Iterator

from siding.workflows.errors import Problem, ScriptError

RAISE = "by hand: "  # how the message of the error begins that stands in for a statement


class JavaScriptError(ScriptError):
    """The source cannot be read. `line` and `column` count from 1."""

    code = "workflow_javascript"

    def __init__(self, what: str, line: int, column: int) -> None:
        problem = Problem(line=line, column=column, what=what, remedy="it is not translated")
        super().__init__(f"line {line}, column {column}: {what}", (problem,))
        self.what = what
        self.line = line
        self.column = column


class ByHand(Exception):
    """A statement has something that is not translated; it is left to a person."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


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
