"""The types of a step's reports, exported for the front ends."""

from siding.git.paths import quote_path
from siding.ledger.reports import IsolationReport, OutsideChange, PolicyEvent, SandboxReport

__all__ = ["IsolationReport", "OutsideChange", "PolicyEvent", "SandboxReport", "quote_path"]
