"""What storage can say went wrong. Whatever is raised, nothing that was stored before is lost.

An `OSError` (disk full, no permission, input/output error) is not wrapped: it already names the
call's reason and the file, and the front ends turn it into a sentence.
"""

from pathlib import Path

from siding.errors import SidingError, UnreadableFile


class StorageError(SidingError):
    """Something on disk is not as it should be, or cannot be put there."""

    code = "storage"


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
