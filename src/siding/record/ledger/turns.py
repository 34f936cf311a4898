"""Find the turns that agents reported, and which of them stand. Pure."""

from collections.abc import Iterable

from siding.ground.namedtuples import NamedTuple
from siding.record.ledger.details.checkpoint import CheckpointDetail
from siding.record.ledger.present_line import present_line
from siding.record.ledger.step import Step


class ReportedTurn(NamedTuple):
    """A turn whose prompt is known.

    `on` is the number of the step whose state it began with, 0 for the base. `stands` is false if
    the task has gone back to before it. Steps of tool calls within the turn are no turns; `last` is
    the newest step of the turn: later than `step` if something came of it in the background.
    """

    step: Step
    detail: CheckpointDetail
    on: int
    stands: bool
    last: Step


def reported_turns(steps: Iterable[Step]) -> list[ReportedTurn]:
    """Return the turns with a prompt, oldest first. `steps` are all of a task's."""
    given = list(steps)
    line = present_line(given)
    behind = line.left_behind
    found: list[ReportedTurn] = []
    of, on = ("", ""), 0
    for step in given:
        if not step.turn or (step.turn_of, step.turn) != of:
            of, on = (step.turn_of, step.turn), line.on(step.number)  # the first one of a turn
        turn = step.as_checkpoint
        if turn is not None and turn.prompt.strip():
            stands = step.number not in behind
            found.append(ReportedTurn(step, turn, on, stands, last=step))
        elif step.turn and found and (found[-1].step.turn_of, found[-1].step.turn) == of:
            found[-1] = found[-1]._replace(last=step)
    return found
