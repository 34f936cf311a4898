"""The report on a snapshot: what it holds and what it lacks."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from siding.ground.git.paths import quote_path, unquote_path
from siding.ground.namedtuples import NamedTuple

LISTED = 100  # names kept of each kind; the counts are exact
_PATHS = ("nested", "special", "empty_dirs", "ignored", "unstable", "foreign", "linked")
_COUNTS = (
    "special_count",
    "empty_dir_count",
    "ignored_count",
    "foreign_count",
    "linked_count",
    "sparse",
)


class Reason(StrEnum):
    """Why something on disk is not in the snapshot."""

    TOO_LARGE = "too large"
    UNREADABLE = "unreadable"
    REFUSED_NAME = "name that git refuses"
    CHANGING = "changed while it was read"


class Skipped(NamedTuple):
    """A path that is on disk and not in the snapshot. ``size`` is in bytes where it is known."""

    path: bytes
    reason: str  # a Reason, or the word of a newer version
    size: int | None = None


class Coverage(NamedTuple):
    """The report that goes with each snapshot.

    A path in `skipped` is *unknown* in the snapshot, not deleted: code that compares, applies or
    restores must leave it alone. ``nested`` are directories that are repositories of their own;
    their files are captured, their history is not. ``sparse`` counts tracked paths that a sparse
    checkout keeps off the disk; the snapshot holds them as the base has them. ``unstable`` are
    paths whose bytes changed during the capture, so that the snapshot may hold a state that never
    was there at one moment. ``foreign`` belong to another user, who alone may set permissions.
    ``linked`` are hard links to a file that has names elsewhere, too: ignored, or out of the
    workspace. Their content is captured, that they are the same file is not.
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
    linked: tuple[bytes, ...] = ()
    linked_count: int = 0
    sparse: int = 0
    notes: tuple[str, ...] = ()
    lacks_more: bool = False  # read from a record: incomplete, and it does not say in what

    @property
    def complete(self) -> bool:
        """Whether all that is there was captured, but for what is ignored, empty directories,
        links to files elsewhere and what no snapshot can hold (pipes, sockets, devices)."""
        named = self.skipped or self.nested or self.unstable or self.foreign
        return not (named or self.lacks_more)

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Coverage":
        """Return the report in a JSON record. A part that is not as expected is left out."""
        skipped = record.get("skipped")
        found = cls(
            skipped=tuple(
                Skipped(
                    _path(each.get("path", "")),
                    str(each.get("reason", "")),
                    size if isinstance(size := each.get("size"), int) else None,
                )
                for each in (skipped if isinstance(skipped, list) else ())
                if isinstance(each, dict)
            ),
            nested=_paths(record.get("nested")),
            special=_paths(record.get("special")),
            special_count=_count(record.get("special_count")),
            empty_dirs=_paths(record.get("empty_dirs")),
            empty_dir_count=_count(record.get("empty_dir_count")),
            ignored=_paths(record.get("ignored")),
            ignored_count=_count(record.get("ignored_count")),
            unstable=_paths(record.get("unstable")),
            foreign=_paths(record.get("foreign")),
            foreign_count=_count(record.get("foreign_count")),
            linked=_paths(record.get("linked")),
            linked_count=_count(record.get("linked_count")),
            sparse=_count(record.get("sparse")),
            notes=tuple(map(str, notes)) if isinstance(notes := record.get("notes"), list) else (),
        )
        return found._replace(lacks_more=found.complete and not record.get("complete", True))

    def as_record(self) -> dict[str, Any]:
        """Return the report for a JSON record: names quoted, empty parts left out."""
        record: dict[str, Any] = {"complete": self.complete}
        if self.skipped:
            record["skipped"] = [
                {"path": quote_path(s.path), "reason": str(s.reason)}
                | ({} if s.size is None else {"size": s.size})
                for s in self.skipped
            ]
        for name in _PATHS:
            if names := getattr(self, name):
                record[name] = [quote_path(path) for path in names]
        for name in _COUNTS:
            if count := getattr(self, name):
                record[name] = count
        if self.notes:
            record["notes"] = list(self.notes)
        return record


def _paths(value: object) -> tuple[bytes, ...]:
    return tuple(_path(each) for each in value) if isinstance(value, list) else ()


def _path(value: object) -> bytes:
    shown = str(value)
    try:
        return unquote_path(shown)
    except ValueError:
        return shown.encode("utf-8", "surrogateescape")


def _count(value: object) -> int:
    return value if isinstance(value, int) else 0
