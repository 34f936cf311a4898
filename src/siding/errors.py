"""Expected failures.

An expected failure says what went wrong and why in ``message``, and what to do in ``hint``. The
front ends turn one into a line of text and an exit status; they never match on the text.
"""

from typing import ClassVar


class SidingError(Exception):
    """An operation could not be done; nothing was lost.

    ``code`` is a stable word for programs (``--format json`` prints it); ``exit_code`` is the
    exit status of the command line.
    """

    code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(SidingError):
    """The request itself makes no sense as it stands."""

    code = "usage"
    exit_code = 2


class NotInitialised(SidingError):
    """There is no project here, and the command is not one that makes one."""

    code = "not_initialised"
    exit_code = 3


class NoActiveTask(SidingError):
    """The command needs a task, and none was named or active."""

    code = "no_active_task"
    exit_code = 4


class NotFound(SidingError):
    """A task, step or artifact with this name does not exist."""

    code = "not_found"


class IllegalTransition(SidingError):
    """The state table has no such move; nothing was changed."""

    code = "illegal_transition"
