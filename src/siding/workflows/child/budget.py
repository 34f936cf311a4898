"""The budget as a script reads it."""

from collections.abc import Callable
from math import inf
from types import SimpleNamespace

from siding.workflows.child.calls import Calls


def budget_for(calls: Calls, total: int | None) -> SimpleNamespace:
    """Return what the agents of the run may use, in tokens: `total`, `spent()`, `remaining()`.

    `total` is None and `remaining()` infinite if there is no limit. What is read is recorded: it is
    a result. The functions are no methods, so that they do not lead to the calls.
    """

    def spent() -> int:
        value: int = calls.read("spent", calls.tokens)
        return value

    def remaining() -> float:
        if total is None:
            return inf
        value: int = calls.read("remaining", max(0, total - calls.tokens))
        return value

    functions: dict[str, Callable[[], float]] = {"spent": spent, "remaining": remaining}
    return SimpleNamespace(total=total, **functions)
