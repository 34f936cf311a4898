"""The types of a step's reports, exported for the front ends."""

from siding.ground.git.paths import quote_path
from siding.record.ledger.reports import (
    IsolationReport,
    OutsideChange,
    PolicyEvent,
    SandboxReport,
    Trap,
)

__all__ = [
    "IsolationReport",
    "OutsideChange",
    "PolicyEvent",
    "SandboxReport",
    "Trap",
    "quote_path",
]
