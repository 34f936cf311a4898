"""What can be wrong with a workflow."""

from typing import TYPE_CHECKING

from siding.ground.errors import NotFound, SidingError, UsageError

if TYPE_CHECKING:
    from siding.workflows.problems import Problem


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


RERUN_LOST = (
    "put the file back from a copy, or run again what is lost:"
    " `siding workflow resume RUN --rerun-lost`"
)


class DamagedJournal(SidingError):
    """Lines of a run's journal cannot be read or are missing; the run is not resumed."""

    code = "workflow_journal"
