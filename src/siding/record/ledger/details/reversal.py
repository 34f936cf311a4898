"""Undo and redo: the reference from one step to the step that it reverses or repeats."""

from collections.abc import Mapping
from typing import Any

from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import (
    said,
    text_or_none,
)


class Reversal(NamedTuple):
    """The step that this step undoes or redoes; at most one of the two is set."""

    undoes: str | None = None  # the id of the step that is undone
    redoes: str | None = None  # the id of the step that is done again

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Reversal":
        return cls(text_or_none(record.get("undoes")), text_or_none(record.get("redoes")))

    @property
    def of(self) -> str | None:
        """Return the id of the step that is undone or redone; None if this is neither."""
        return self.undoes or self.redoes

    def as_record(self) -> dict[str, Any]:
        return said(undoes=self.undoes, redoes=self.redoes)
