"""Which step another one takes back, or does again."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from siding.ledger.fields import (
    said,
    text_or_none,
)


class Reversal(NamedTuple):
    """The step that another one takes back, or does again."""

    undoes: str | None = None  # a step's id
    redoes: str | None = None

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Reversal":
        return cls(text_or_none(record.get("undoes")), text_or_none(record.get("redoes")))

    @property
    def of(self) -> str | None:
        """Return the step that is taken back or done again."""
        return self.undoes or self.redoes

    def as_record(self) -> dict[str, Any]:
        return said(undoes=self.undoes, redoes=self.redoes)
