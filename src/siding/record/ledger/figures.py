"""The figures of a step: how many files, lines and permissions it changed."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from siding.ground.git.paths import quote_path
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import mapping, strings, whole, words
from siding.record.snapshots.coverage import LISTED

if TYPE_CHECKING:
    from siding.record.snapshots.mode_changes import ModeChange
    from siding.record.snapshots.patches import DiffStat


class DiffFigures(NamedTuple):
    """The number of changed files, added lines and deleted lines, and the changed paths."""

    files: int = 0
    additions: int = 0
    deletions: int = 0
    file_list: tuple[str, ...] = ()

    @classmethod
    def of(cls, stat: "DiffStat | None") -> "DiffFigures":
        """Return the figures of a patch; None is one in which nothing differs."""
        if stat is None:
            return cls()
        names = tuple(quote_path(each.path) for each in stat.per_file)
        return cls(stat.files, stat.additions, stat.deletions, names)

    @classmethod
    def from_record(cls, value: object) -> "DiffFigures":
        found = mapping(value)
        return cls(
            files=whole(found.get("files")),
            additions=whole(found.get("additions")),
            deletions=whole(found.get("deletions")),
            file_list=words(found.get("file_list")),
        )

    def as_record(self) -> dict[str, Any]:
        return self._asdict() | {"file_list": list(self.file_list)}


class RunTurns(NamedTuple):
    """The turns of a run that led to its end: how many, how many files they changed, and the ids of
    the newest of their steps, oldest first."""

    number: int
    files: int
    steps: tuple[str, ...]

    @classmethod
    def from_record(cls, value: object) -> "RunTurns | None":
        found = mapping(value)
        number = whole(found.get("number"))
        if not number:
            return None
        return cls(number, whole(found.get("files")), strings(found.get("steps")))

    def as_record(self) -> dict[str, Any]:
        return {"number": self.number, "files": self.files, "steps": list(self.steps)}


class ModeFigure(NamedTuple):
    """A path whose permissions changed; a directory ends in "/". The modes are octal digits."""

    path: str
    before: str
    after: str


class ModeFigures(NamedTuple):
    """Changed permissions: the first paths, and the total number.

    `links` is the number of files that are linked to others than before, `directories` that of
    directories that are empty now or were before.
    """

    first: tuple[ModeFigure, ...] = ()
    total: int = 0
    links: int = 0
    directories: int = 0

    @classmethod
    def of(
        cls, changes: "Sequence[ModeChange]", *, links: int = 0, directories: int = 0
    ) -> "ModeFigures":
        """Return the figures of changed permissions; the line lists the first of them."""
        first = tuple(
            ModeFigure(
                path=quote_path(each.path) + ("/" if each.is_directory else ""),
                before=f"{each.before:04o}",
                after=f"{each.after:04o}",
            )
            for each in changes[:LISTED]
        )
        return cls(first, len(changes), links, directories)

    def as_record(self) -> dict[str, Any]:
        """Return the fields of a ledger line, without those of what did not change."""
        record: dict[str, Any] = {}
        if self.total:
            record["modes"] = [each._asdict() for each in self.first]
            record["mode_count"] = self.total
        if self.links:
            record["link_count"] = self.links
        if self.directories:
            record["directory_count"] = self.directories
        return record
