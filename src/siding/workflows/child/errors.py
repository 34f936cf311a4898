"""What ends a script, or one of its calls."""

SCRIPT = "script"  # the script itself: a mistake in it, or in what it was given


class WorkflowError(Exception):
    """A call that the script may not make, or that failed. `kind` is one of the constants below."""

    kind = SCRIPT

    def __init__(self, message: str, kind: str = "") -> None:
        super().__init__(message)
        if kind:
            self.kind = kind


CAP = "cap"  # too many agents or items
NESTING = "nesting"
NOT_DETERMINISTIC = "not-deterministic"
FORBIDDEN = "forbidden"
SILENT = "silent"  # it computed too long without waiting
CONFIG = "config"  # what was asked for does not exist: a workflow, an agent, a schema


class NotDeterministic(BaseException):
    """The same script made another call than it did before. No `except Exception` hides it."""
