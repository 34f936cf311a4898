"""The detail of a phase step: the task was moved to a phase, with a commit on its branch."""

from collections.abc import Mapping
from typing import Any

from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import text, whole
from siding.record.ledger.kinds import StepKind


class PhaseDetail(NamedTuple):
    """A move of the task through its phases, made outside any step.

    A move that a command of a step makes belongs to that step, and has no line of its own.
    """

    message: str = ""  # the first line of the commit's message
    action: str = ""  # a PhaseMove
    phase: str = ""  # the phase after the move
    phase_step: int = 0  # the step in that phase after the move
    branch: str = ""
    commit_sha: str = ""  # the commit of the move; "" if the branch was not moved

    @property
    def kind(self) -> str:
        return StepKind.PHASE.value

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "PhaseDetail":
        return cls(
            message=text(record.get("message")),
            action=text(record.get("action")),
            phase=text(record.get("phase")),
            phase_step=whole(record.get("phase_step")),
            branch=text(record.get("branch")),
            commit_sha=text(record.get("commit_sha")),
        )

    def as_record(self) -> dict[str, Any]:
        return self._asdict()
