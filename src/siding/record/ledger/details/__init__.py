"""One type for each kind of ledger line, with the fields that only this kind has.

An act fills the detail of its step, ``as_record`` writes the fields, `detail_from` reads those of
an act that is under way; `siding.record.ledger.step` reads those of a recorded step. A kind that
this version does not know becomes a `ForeignDetail`.

Each kind has its own module, which is imported when a step of that kind is read.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, assert_never

from siding.ground.namedtuples import NamedTuple
from siding.record.ledger.kinds import StepKind, known_kind

if TYPE_CHECKING:
    from siding.record.ledger.details.apply import ApplyDetail
    from siding.record.ledger.details.checkpoint import CheckpointDetail
    from siding.record.ledger.details.phase import PhaseDetail
    from siding.record.ledger.details.rollback import RollbackDetail
    from siding.record.ledger.details.run import RunDetail


class ForeignDetail(NamedTuple):
    """The detail of a kind that this version does not know; a newer version wrote it."""

    kind: str

    def as_record(self) -> dict[str, Any]:
        return {}


if TYPE_CHECKING:
    Detail = (
        RunDetail | CheckpointDetail | RollbackDetail | ApplyDetail | PhaseDetail | ForeignDetail
    )


def detail_from(kind: str, record: Mapping[str, Any]) -> "Detail":
    """Return the detail of a step of this kind from its ledger line."""
    known = known_kind(kind)
    match known:
        case None:
            return ForeignDetail(kind)
        case StepKind.RUN:
            from siding.record.ledger.details.run import RunDetail

            return RunDetail.from_record(record)
        case StepKind.CHECKPOINT:
            from siding.record.ledger.details.checkpoint import CheckpointDetail

            return CheckpointDetail.from_record(record)
        case StepKind.ROLLBACK:
            from siding.record.ledger.details.rollback import RollbackDetail

            return RollbackDetail.from_record(record)
        case StepKind.APPLY:
            from siding.record.ledger.details.apply import ApplyDetail

            return ApplyDetail.from_record(record)
        case StepKind.PHASE:
            from siding.record.ledger.details.phase import PhaseDetail

            return PhaseDetail.from_record(record)
        case _:
            assert_never(known)
