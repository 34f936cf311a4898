"""What storage can say went wrong. Whatever is raised, nothing that was stored before is lost.

An `OSError` (disk full, no permission, input/output error) is not wrapped: it already names the
call's reason and the file, and the front ends turn it into a sentence.
"""

from pathlib import Path

from siding.errors import SidingError


class StorageError(SidingError):
    """Something on disk is not as it should be, or cannot be put there."""

    code = "storage"


class UnreadableFile(StorageError):
    """A file is there and cannot be used, for one of the reasons below; it was left as it is.

    Who lists many files catches this one, names the file, and goes on.
    """

    code = "unreadable_file"

    def __init__(self, path: Path, message: str, *, hint: str) -> None:
        super().__init__(message, hint=hint)
        self.path = path


class NotARegularFile(UnreadableFile):
    """Where one of our files belongs there is a directory, link, pipe, socket or device."""

    code = "not_a_regular_file"

    def __init__(self, path: Path) -> None:
        super().__init__(
            path,
            f"{str(path)!r} is not a regular file",
            hint="a directory, link, pipe or device stands in its place; move it away",
        )


class FileTooLarge(UnreadableFile):
    """The file is larger than anything that is read into memory as a whole. Sizes in bytes."""

    code = "file_too_large"

    def __init__(self, path: Path, limit: int) -> None:
        super().__init__(
            path,
            f"{str(path)!r} is larger than {limit} bytes and was not read",
            hint="nothing of ours grows that large; look at what wrote to it",
        )
        self.limit = limit


class DamagedFile(UnreadableFile):
    """A document cannot be understood. It was left byte for byte as it was found."""

    code = "damaged_file"

    def __init__(self, path: Path, reason: str, *, what: str | None = None) -> None:
        subject = f"the {what} file {str(path)!r}" if what else repr(str(path))
        super().__init__(
            path,
            f"{subject} is damaged: {reason}",
            hint="it was left as it is; mend it by hand or put back a copy",
        )
        self.reason = reason


class NewerVersion(UnreadableFile):
    """A newer release wrote this document; this one neither guesses at it nor writes it."""

    code = "newer_version"

    def __init__(self, path: Path, what: str, found: int, supported: int) -> None:
        super().__init__(
            path,
            f"the {what} file {str(path)!r} has format version {found}; "
            f"this release knows versions up to {supported}",
            hint="use the newer release of siding that wrote it",
        )
        self.found = found
        self.supported = supported


class NotStorable(StorageError):
    """The value has no JSON form that every reader would read back; nothing was written."""

    code = "not_storable"


class UnsafeName(StorageError):
    """An id or name that would leave its directory if it became part of a path."""

    code = "unsafe_name"
