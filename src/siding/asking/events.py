"""What listeners are told when a question changes."""

from typing import Any

from siding.asking.decisions.record import Decision
from siding.ground.namedtuples import NamedTuple


class DecisionChanged(NamedTuple):
    """A question was asked, answered, cancelled or removed."""

    decision: Decision
    how: str  # asked, answered, …

    @property
    def name(self) -> str:
        return f"decision.{self.how}"

    @property
    def task_id(self) -> str:
        return self.decision.origin.task_id

    def record(self) -> dict[str, Any]:
        how = {"via": self.decision.via, "device": self.decision.device}
        return {
            "task": {"id": self.task_id} if self.task_id else {},
            "decision": {
                "session_id": self.decision.session_id,
                "state": self.decision.state.value,
                "items": len(self.decision.request.items),
                **{name: value for name, value in how.items() if value},
            },
        }
