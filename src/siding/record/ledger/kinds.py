"""The fixed sets of words in a ledger line."""

from enum import StrEnum

BASE = "base"  # what the first step of a task stands on
ALL_PARTS = "all"  # `parts` of a rollback that took all parts of the state along


class StepKind(StrEnum):
    """What kind of act a step records. A merge is recorded as a rollback."""

    RUN = "run"
    APPLY = "apply"
    ROLLBACK = "rollback"
    CHECKPOINT = "checkpoint"
    PHASE = "phase"


class StepStatus(StrEnum):
    """How a step ended."""

    COMPLETED = "completed"
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    TIMEOUT = "timeout"
    BLOCKED = "blocked"
