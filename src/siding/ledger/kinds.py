"""The closed sets of words in a ledger line."""

from enum import StrEnum


class StepKind(StrEnum):
    """What a step did."""

    RUN = "run"
    APPLY = "apply"
    ROLLBACK = "rollback"
    CHECKPOINT = "checkpoint"


class StepStatus(StrEnum):
    """How a step ended."""

    COMPLETED = "completed"
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    TIMEOUT = "timeout"
    BLOCKED = "blocked"
