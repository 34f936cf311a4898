"""What was done in a conversation, turn by turn, from its record. No model is asked."""

from siding.assistant.looking.chosen import looked_at, steps_of
from siding.assistant.looking.turns import ToolCall, Turn, calls_of, turns_of
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import mapping, text
from siding.record.ledger.step import Step
from siding.record.place.project import Project


class RecapTurn(NamedTuple):
    """A turn with its steps, the commands that it ran, and what failed in it."""

    turn: Turn
    steps: tuple[Step, ...]
    commands: tuple[str, ...]
    failed: tuple[ToolCall, ...]
    calls: int


class Recap(NamedTuple):
    """A conversation, told again."""

    session: str
    title: str
    turns: tuple[RecapTurn, ...]


def recap_of(project: Project, named: str) -> Recap:
    """Return what was done in a conversation. Raises NotFound."""
    found = looked_at(project, named)
    calls = calls_of(found.history)
    steps = steps_of(project, found.id)
    turns = [_turn(turn, calls, steps) for turn in turns_of(found.history)]
    return Recap(found.id, found.title, tuple(turns))


def _turn(turn: Turn, calls: list[ToolCall], steps: list[Step]) -> RecapTurn:
    own = [call for call in calls if call.turn == turn.number]
    given = [text(mapping(call.given).get("command")) for call in own]
    return RecapTurn(
        turn=turn,
        steps=tuple(step for step in steps if turn.id and _turn_id(step) == turn.id),
        commands=tuple(command for command in given if command),
        failed=tuple(call for call in own if call.is_error or not call.has_result),
        calls=len(own),
    )


def _turn_id(step: Step) -> str:
    found = step.as_checkpoint
    return "" if found is None else found.turn
