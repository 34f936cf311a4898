"""What a snapshot holds and what it does not."""

from enum import StrEnum
from typing import Any, NamedTuple

from siding.git.paths import quote_path

LISTED = 100  # names kept of each kind; the counts are exact


class Reason(StrEnum):
    """Why something on disk is not in the snapshot."""

    TOO_LARGE = "too large"
    UNREADABLE = "unreadable"
    REFUSED_NAME = "name that git refuses"
    CHANGING = "changed while it was read"


class Skipped(NamedTuple):
    """A path that is on disk and not in the snapshot. ``size`` is in bytes where it is known."""

    path: bytes
    reason: Reason
    size: int | None = None


class Coverage(NamedTuple):
    """The report that goes with each snapshot.

    A path in `skipped` is *unknown* in the snapshot, never deleted: who compares, applies or
    restores must leave it alone. ``nested`` are directories that are repositories of their own;
    their files are captured, their history is not. ``sparse`` counts tracked paths that a sparse
    checkout keeps off the disk; the snapshot holds them as the base has them. ``unstable`` are
    paths whose bytes changed during the capture, so that the snapshot may hold a state that never
    was there at one moment. ``foreign`` belong to another user, who alone may set permissions.
    """

    skipped: tuple[Skipped, ...] = ()
    nested: tuple[bytes, ...] = ()
    special: tuple[bytes, ...] = ()
    special_count: int = 0
    empty_dirs: tuple[bytes, ...] = ()
    empty_dir_count: int = 0
    ignored: tuple[bytes, ...] = ()
    ignored_count: int = 0
    unstable: tuple[bytes, ...] = ()
    foreign: tuple[bytes, ...] = ()
    foreign_count: int = 0
    sparse: int = 0
    notes: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether all that is there was captured, but for what is ignored, empty directories and
        what no snapshot can hold (pipes, sockets, devices)."""
        return not (self.skipped or self.nested or self.unstable or self.foreign)

    def as_record(self) -> dict[str, Any]:
        """Return the report for a JSON record: names quoted, empty parts left out."""
        record: dict[str, Any] = {"complete": self.complete}
        if self.skipped:
            record["skipped"] = [
                {"path": quote_path(s.path), "reason": s.reason.value}
                | ({} if s.size is None else {"size": s.size})
                for s in self.skipped
            ]
        for name in ("nested", "special", "empty_dirs", "ignored", "unstable", "foreign"):
            if names := getattr(self, name):
                record[name] = [quote_path(path) for path in names]
        counts = ("special_count", "empty_dir_count", "ignored_count", "foreign_count", "sparse")
        for name in counts:
            if count := getattr(self, name):
                record[name] = count
        if self.notes:
            record["notes"] = list(self.notes)
        return record
