"""What a step did: one type for each kind, and the fields of a ledger line that only it has.

`detail_from` reads them, ``as_record`` writes them. The union is closed: code that tells its types
apart does it with ``match`` or ``isinstance``, and mypy knows all cases. A kind that this version
does not know is a `ForeignDetail`: it is kept and shown, and nothing is undone across it.

Each kind is a module of its own, loaded when there is a step of it.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from siding.ledger.kinds import StepKind

if TYPE_CHECKING:
    from siding.ledger.details.apply import ApplyDetail
    from siding.ledger.details.checkpoint import CheckpointDetail
    from siding.ledger.details.foreign import ForeignDetail
    from siding.ledger.details.rollback import RollbackDetail
    from siding.ledger.details.run import RunDetail

    Detail = RunDetail | CheckpointDetail | RollbackDetail | ApplyDetail | ForeignDetail


def detail_from(kind: str, record: Mapping[str, Any]) -> "Detail":
    """Return what a line of that kind says that its step did."""
    match kind:
        case StepKind.RUN:
            from siding.ledger.details.run import RunDetail

            return RunDetail.from_record(record)
        case StepKind.CHECKPOINT:
            from siding.ledger.details.checkpoint import CheckpointDetail

            return CheckpointDetail.from_record(record)
        case StepKind.ROLLBACK:
            from siding.ledger.details.rollback import RollbackDetail

            return RollbackDetail.from_record(record)
        case StepKind.APPLY:
            from siding.ledger.details.apply import ApplyDetail

            return ApplyDetail.from_record(record)
        case _:
            from siding.ledger.details.foreign import ForeignDetail

            return ForeignDetail(kind)
