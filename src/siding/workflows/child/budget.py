"""The budget as a script reads it."""

from math import inf

from siding.workflows.child.calls import Calls


class Budget:
    """What the agents of the run may use, in tokens. What is read is recorded: it is a result.

    `total` is None if there is no limit.
    """

    def __init__(self, calls: Calls, total: int | None) -> None:
        self.total = total
        self._calls = calls

    def spent(self) -> int:
        """Return what agents of this attempt have used."""
        value: int = self._calls.read("spent", self._calls.tokens)
        return value

    def remaining(self) -> float:
        """Return what is left, 0 at least; infinity without a limit."""
        if self.total is None:
            return inf
        value: int = self._calls.read("remaining", max(0, self.total - self._calls.tokens))
        return value
