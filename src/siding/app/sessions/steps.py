"""The steps that a conversation has led to, put where they were recorded in it."""

from collections.abc import Iterable, Iterator

from siding.app.place.project import Project
from siding.app.sessions.finding import FoundSession
from siding.ids import TaskId
from siding.ledger.step import Step
from siding.namedtuples import NamedTuple
from siding.sessions.calls import STEP
from siding.sessions.kinds import SYSTEM, Record, moment


class LedStep(NamedTuple):
    """A turn's step. `at`: when its end was reported, in milliseconds since 1970."""

    at: int
    task: str  # its name
    step: Step


def led_to(project: Project | None, found: FoundSession) -> list[LedStep]:
    """Return the turns that agents reported of a conversation, oldest first."""
    task_id = TaskId(found.task)
    if project is None or not found.task or task_id not in project.tasks.ids():
        return []
    name = project.tasks.load(task_id).name
    return [
        LedStep(moment(step.started_at) or 0, name, step)
        for step in project.ledger(task_id).steps()
        if (turn := step.as_checkpoint) is not None and turn.session == found.id
    ]


def with_steps(records: Iterable[Record], steps: Iterable[LedStep]) -> Iterator[Record]:
    """Yield the records, and each step after the last one of its turn."""
    left = list(steps)
    for record in records:
        at = moment(record.get("timestamp"))
        while left and at is not None and left[0].at < at:
            yield _record(left.pop(0))
        yield record
    yield from map(_record, left)


def _record(led: LedStep) -> Record:
    step = led.step
    changed = f"{step.files} files" if step.files != 1 else "1 file"
    figures = f"{changed} +{step.additions} -{step.deletions}" if step.files else "no file changed"
    text = f"step {step.id} of task {led.task}: {figures}"
    return {"type": SYSTEM, "subtype": STEP, "content": text, "timestamp": step.started_at}
