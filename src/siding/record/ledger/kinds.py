"""The fixed sets of words in a ledger line, the step that another one reverses, unknown kinds."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import said, text_or_none

BASE = "base"  # what the first step of a task stands on
ALL_PARTS = "all"  # `parts` of a rollback that took all parts of the state along


class StepKind(StrEnum):
    """The words for the kinds of acts; `siding.record.ledger.step` tells more kinds apart."""

    RUN = "run"
    APPLY = "apply"
    ROLLBACK = "rollback"
    CHECKPOINT = "checkpoint"
    PHASE = "phase"


_KINDS = {kind.value: kind for kind in StepKind}


def known_kind(word: str) -> StepKind | None:
    """Return the kind that a line's word is for; None for one that a newer version wrote."""
    return _KINDS.get(word)


class StepStatus(StrEnum):
    """How a step ended."""

    COMPLETED = "completed"
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    TIMEOUT = "timeout"
    BLOCKED = "blocked"


class Reversal(NamedTuple):
    """The step that another step undoes or redoes; at most one of the two is set."""

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


class ForeignDetail(NamedTuple):
    """The detail of a kind that this version does not know; a newer version wrote it."""

    kind: str

    def as_record(self) -> dict[str, Any]:
        return {}
