"""What a step did, as the front ends see it: the types of its reports."""

from siding.git.paths import quote_path
from siding.ledger.reports import IsolationReport, OutsideChange, PolicyEvent, SandboxReport

__all__ = ["IsolationReport", "OutsideChange", "PolicyEvent", "SandboxReport", "quote_path"]
