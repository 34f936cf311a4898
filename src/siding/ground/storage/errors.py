"""Errors of the storage package. When one is raised, nothing that was stored before is lost.

An `OSError` (disk full, no permission, input/output error) is not wrapped: it already has the
reason and the file's name, and the front ends turn it into a sentence.
"""

from pathlib import Path

from siding.ground.errors import SidingError, UnreadableFile


class StorageError(SidingError):
    """A file on disk cannot be used, or a value cannot be stored."""

    code = "storage"


class DamagedFile(UnreadableFile):
    """A document is not valid. Its file was not changed."""

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
    """A newer release wrote this document. This release does not read or write it."""

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
    """The value has no JSON form that can be read back. Nothing was written."""

    code = "not_storable"


class UnsafeName(StorageError):
    """An id or name would leave its directory if it became part of a path."""

    code = "unsafe_name"
