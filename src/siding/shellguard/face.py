"""The face of shellguard: the eight names that other packages may import.

Each of them loads its module when it is first asked for: an adapter that only says what a tool
touches does not load the grammar.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from siding.shellguard.fields import Mark
    from siding.shellguard.line_use import LineUse
    from siding.shellguard.paths import JudgingPlace
    from siding.shellguard.policy import Policy
    from siding.shellguard.tool_use import Effect, ToolUse
    from siding.shellguard.verdict import Action, Verdict
else:

    def __getattr__(name: str) -> object:
        if name not in MODULE_OF:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = getattr(import_module(f"siding.shellguard.{MODULE_OF[name]}"), name)
        globals()[name] = found
        return found


__all__ = [
    "Action",
    "Effect",
    "JudgingPlace",
    "LineUse",
    "Mark",
    "Policy",
    "ToolUse",
    "Verdict",
]

MODULE_OF = {
    "Action": "verdict",
    "Effect": "tool_use",
    "JudgingPlace": "paths",
    "LineUse": "line_use",
    "Mark": "fields",
    "Policy": "policy",
    "ToolUse": "tool_use",
    "Verdict": "verdict",
}
