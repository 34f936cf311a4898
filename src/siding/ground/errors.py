"""Expected failures.

An expected failure says what went wrong and why in ``message``, and what to do in ``hint``. The
front ends turn one into a line of text and an exit status; they never match on the text.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return ``1 file``, ``3 files`` or ``1,000 files``, for messages of all kinds."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


class SidingError(Exception):
    """An operation could not be done; nothing was lost.

    ``code`` is a stable word for programs (``--format json`` prints it); ``exit_code`` is the
    exit status of the command line.
    """

    code: str = "error"
    exit_code: int = 1

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


class UnreadableFile(SidingError):
    """A file is there and cannot be used; it was left as it is.

    Code that lists many files should catch this, report the file and continue.
    """

    code = "unreadable_file"

    def __init__(self, path: "Path", message: str, *, hint: str) -> None:
        super().__init__(message, hint=hint)
        self.path = path


class NotARegularFile(UnreadableFile):
    """Where one of our files belongs there is a directory, link, pipe, socket or device."""

    code = "not_a_regular_file"

    def __init__(self, path: "Path") -> None:
        super().__init__(
            path,
            f"{str(path)!r} is not a regular file",
            hint="a directory, link, pipe or device stands in its place; move it away",
        )


class FileTooLarge(UnreadableFile):
    """The file is larger than anything that is read into memory as a whole. Sizes in bytes."""

    code = "file_too_large"

    def __init__(self, path: "Path", limit: int) -> None:
        super().__init__(
            path,
            f"{str(path)!r} is larger than {limit} bytes and was not read",
            hint="nothing of ours grows that large; look at what wrote to it",
        )
        self.limit = limit


class LibraryMissing(SidingError):
    """A library of an extra of the package is not installed, or does not work here."""

    code = "library_missing"
