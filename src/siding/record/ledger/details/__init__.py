"""One type for each kind of step, with the ledger fields that only this kind has.

`detail_from` reads the fields, ``as_record`` writes them. The union is closed: use ``match`` or
``isinstance``, and mypy checks that all cases are covered. A kind that this version does not know
becomes a `ForeignDetail`: it is kept and shown, but undo does not go past it.

Each kind has its own module, which is imported when a step of that kind is read.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from siding.record.ledger.kinds import StepKind

if TYPE_CHECKING:
    from siding.record.ledger.details.apply import ApplyDetail
    from siding.record.ledger.details.checkpoint import CheckpointDetail
    from siding.record.ledger.details.foreign import ForeignDetail
    from siding.record.ledger.details.phase import PhaseDetail
    from siding.record.ledger.details.rollback import RollbackDetail
    from siding.record.ledger.details.run import RunDetail

    Detail = (
        RunDetail | CheckpointDetail | RollbackDetail | ApplyDetail | PhaseDetail | ForeignDetail
    )


def detail_from(kind: str, record: Mapping[str, Any]) -> "Detail":
    """Return the detail of a step of this kind from its ledger line."""
    match kind:
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
            from siding.record.ledger.details.foreign import ForeignDetail

            return ForeignDetail(kind)
