"""The figures of a step: how many files, lines and permissions it changed."""

from typing import Any, NamedTuple

from siding.ledger.fields import mapping, whole, words


class DiffFigures(NamedTuple):
    """The number of changed files, added lines and deleted lines, and the changed paths."""

    files: int = 0
    additions: int = 0
    deletions: int = 0
    file_list: tuple[str, ...] = ()

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


class ModeFigure(NamedTuple):
    """A path whose permissions changed; a directory ends in "/". The modes are octal digits."""

    path: str
    before: str
    after: str


class ModeFigures(NamedTuple):
    """Changed permissions: the first paths, and the total number."""

    first: tuple[ModeFigure, ...] = ()
    total: int = 0

    def as_record(self) -> dict[str, Any]:
        """Return the fields of a ledger line; {} if no permissions changed."""
        if not self.total:
            return {}
        return {"modes": [each._asdict() for each in self.first], "mode_count": self.total}
