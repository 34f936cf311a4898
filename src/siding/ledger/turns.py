"""Find the turns that agents reported, and which of them stand. Pure."""

from collections.abc import Iterable

from siding.ledger.details.checkpoint import CheckpointDetail
from siding.ledger.present_line import present_line
from siding.ledger.step import Step
from siding.namedtuples import NamedTuple


class ReportedTurn(NamedTuple):
    """A turn whose prompt is known.

    `on` is the number of the step whose state it began with, 0 for the base. `stands` is false if
    the task has gone back to before it.
    """

    step: Step
    detail: CheckpointDetail
    on: int
    stands: bool


def reported_turns(steps: Iterable[Step]) -> list[ReportedTurn]:
    """Return the turns with a prompt, oldest first. `steps` are all of a task's."""
    given = list(steps)
    line = present_line(given)
    behind = line.left_behind
    return [
        ReportedTurn(step, turn, line.on(step.number), stands=step.number not in behind)
        for step in given
        if (turn := step.as_checkpoint) is not None and turn.prompt.strip()
    ]
