"""What keeps a JavaScript source from being read or written as Python."""

from siding.workflows.errors import Problem, ScriptError


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
