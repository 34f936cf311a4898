"""The steps that a conversation has led to, put where they were recorded in it.

The step of a tool's call (`agents.steps: call`) stands behind the result of that call, that of a
turn at the turn's end.
"""

from collections.abc import Collection, Iterable, Iterator

from siding.agents.transcripts.kinds import SYSTEM, Record, moment
from siding.agents.transcripts.markdown import STEP
from siding.agents.transcripts.messages import tool_results
from siding.agents.transcripts.reading.listing import NO_PROMPT, first_prompt
from siding.ground.errors import NotFound, counted
from siding.ground.ids import TaskId
from siding.ground.namedtuples import NamedTuple
from siding.record.ledger.step import Step
from siding.record.place.project import Project
from siding.sessions.lookup import FoundSession

__all__ = ["LedStep", "Record", "led_step", "led_to", "part_of", "with_steps"]

_NUMBER = "siding_number"  # of the step, in a record that stands for one
_GRACE_MS = 5_000  # in which the result of a call is written, after its step was recorded
_NEXT_CAME = "prompt"  # the moment of a turn whose end was not told
_AHEAD_MS = 2_000  # by which the next prompt was written before that


class LedStep(NamedTuple):
    """A step of a turn. `at`: when it was begun, in milliseconds since 1970."""

    at: int
    task_id: str
    task: str  # its name
    call: str  # the agent's id of the call, "" for the step of a turn
    step: Step

    @property
    def text(self) -> str:
        """What is said of it in the conversation."""
        step = self.step
        changed = counted(step.files, "file")
        figures = f"{changed} +{step.additions} -{step.deletions}"
        of_call = ", this call" if self.call else ""
        what = figures if step.files else "no file changed"
        return f"step {step.id} of task {self.task}{of_call}: {what}"


def led_to(project: Project | None, found: FoundSession) -> list[LedStep]:
    """Return the steps that agents reported of a conversation, oldest first."""
    task_id = TaskId(found.task)
    if project is None or not found.task or task_id not in project.tasks.ids():
        return []
    name = project.tasks.load(task_id).name
    return [
        LedStep(moment(step.started_at) or 0, task_id, name, turn.call, step)
        for step in project.ledger(task_id).steps()
        if (turn := step.as_checkpoint) is not None and turn.session == found.id
    ]


def with_steps(records: Iterable[Record], steps: Iterable[LedStep]) -> Iterator[Record]:
    """Yield the records; each step is after the last one of its turn, or the result of its call."""
    left = list(steps)
    for record in records:
        yield from _taken(left, _due(left, record))
        yield record
        answered = {str(each.get("tool_use_id")) for each in tool_results(record)}
        yield from _taken(left, _answered(left, answered))
    yield from map(_record, left)


def part_of(records: Iterable[Record], number: int) -> list[Record]:
    """Return, of records with their steps, those that led to the step with this number.

    They begin with the prompt of its turn or, of the step of a call, behind the step before it.
    Raises NotFound.
    """
    part: list[Record] = []
    for record in records:
        part.append(record)
        if record.get(_NUMBER) == number:
            return part
        if _NUMBER in record:
            part = []
    raise NotFound(
        f"step {number} is not in this conversation",
        hint="`--all` looks at what was compacted or taken back, too",
    )


def led_step(record: Record, steps: Iterable[LedStep]) -> LedStep | None:
    """Return the step that a record stands for, None for a message."""
    number = record.get(_NUMBER)
    return next((each for each in steps if each.step.number == number), None)


def _due(left: list[LedStep], record: Record) -> int:
    """Return how many steps were recorded before a message."""
    at = moment(record.get("timestamp"))
    if not left or at is None:
        return 0
    asks = first_prompt([record]) != NO_PROMPT
    return max((n for n, led in enumerate(left, 1) if at > led.at + _later(led, asks)), default=0)


def _later(led: LedStep, asks: bool) -> int:
    """Return how much later than a step the first message is that is not of its turn.

    A turn whose end nobody told was recorded when the next prompt had been written.
    """
    turn = led.step.as_checkpoint
    if asks and turn is not None and turn.moment == _NEXT_CAME:
        return -_AHEAD_MS
    return _GRACE_MS if led.call else 0


def _answered(left: list[LedStep], calls: Collection[str]) -> int:
    """Return how many steps come before the results of these calls, those of the calls included."""
    return max((n for n, led in enumerate(left, 1) if led.call and led.call in calls), default=0)


def _taken(left: list[LedStep], count: int) -> Iterator[Record]:
    yield from map(_record, left[:count])
    del left[:count]


def _record(led: LedStep) -> Record:
    return {
        "type": SYSTEM,
        "subtype": STEP,
        "content": led.text,
        "timestamp": led.step.started_at,
        _NUMBER: led.step.number,
    }
