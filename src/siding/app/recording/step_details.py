"""The types of a step's reports, exported for the front ends."""

from siding.git.paths import quote_path
from siding.ledger.reports import IsolationReport, OutsideChange, PolicyEvent, SandboxReport
from siding.ledger.traps import Trap

__all__ = [
    "IsolationReport",
    "OutsideChange",
    "PolicyEvent",
    "SandboxReport",
    "Trap",
    "quote_path",
]
