"""What can be wrong with a workflow, and what the checker finds in its script."""

import ast

from siding.ground.errors import NotFound, SidingError, UsageError
from siding.ground.namedtuples import NamedTuple

RERUN_LOST = (
    "put the file back from a copy, or run again what is lost:"
    " `siding workflow resume RUN --rerun-lost`"
)


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


class ScriptError(UsageError):
    """The script cannot be run as it is. `problems` has all that was found, in order."""

    code = "workflow_script"

    def __init__(self, message: str, problems: "tuple[Problem, ...]" = (), hint: str = "") -> None:
        super().__init__(message, hint=hint or None)
        self.problems = problems


class WorkflowNotFound(NotFound):
    """No workflow has this name, or no run has this id."""

    code = "workflow_not_found"


class BadResume(UsageError):
    """The run cannot be resumed in the way that was asked for."""

    code = "workflow_resume"


class RunIsLive(SidingError):
    """Another process works on this run."""

    code = "workflow_run_is_live"


class RunNotAnswering(SidingError):
    """A process works on this run, but does not answer."""

    code = "workflow_run_not_answering"


class DamagedJournal(SidingError):
    """Lines of a run's journal cannot be read or are missing; the run is not resumed."""

    code = "workflow_journal"
