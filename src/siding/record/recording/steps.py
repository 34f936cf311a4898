"""Read the recorded steps of a task, and the step in progress. Reading takes no lock."""

from siding.ground.errors import NotFound, SidingError, UsageError
from siding.ground.ids import step_number
from siding.record.ledger.step import (
    ApplyRedoStep,
    ApplyStep,
    ApplyUndoStep,
    CheckpointStep,
    ForeignStep,
    MergeStep,
    PhaseStep,
    RedoStep,
    RollbackStep,
    RunStep,
    Step,
    TurnStep,
    UndoStep,
    step_from,
)
from siding.record.ledger.store import DamagedLine, Ledger
from siding.record.place.project import Project
from siding.record.place.selection import select
from siding.record.recording.missing_steps import (
    InProgress,
    damaged_steps,
    in_progress,
    progress_record,
)
from siding.record.runs.run import is_run_id
from siding.record.tasks.task import Task

__all__ = [
    "ApplyRedoStep",
    "ApplyStep",
    "ApplyUndoStep",
    "CheckpointStep",
    "DamagedLine",
    "DamagedStep",
    "ForeignStep",
    "MergeStep",
    "PhaseStep",
    "RedoStep",
    "RollbackStep",
    "RunStep",
    "Step",
    "Task",
    "TurnStep",
    "UndoStep",
    "log",
    "running_step",
    "same_number",
    "step",
]


class DamagedStep(SidingError):
    """The ledger line of a step cannot be read."""

    code = "damaged_step"


def log(project: Project, named: str | None, *, limit: int | None) -> tuple[Task, list[Step]]:
    """Return a task and its newest `limit` steps, oldest first; all steps if `limit` is None."""
    task = select(project, named)
    ledger = project.ledger(task.id)
    return task, list(ledger.steps()) if limit is None else ledger.tail(limit)


def step(project: Project, named: str | None, wanted: str) -> tuple[Task, Step]:
    """Return one step, named by its number, its run (``r7``) or ``last``.

    Several steps of another tool can have one number: ``2@14`` is step 2 on line 14 of the ledger.
    Raises NotFound and DamagedStep.
    """
    task = select(project, named)
    ledger = project.ledger(task.id)
    if wanted == "last":
        found = ledger.last()
    elif is_run_id(wanted):
        found = next((each for each in ledger.steps() if each.run == wanted), None)
    elif "@" in wanted:
        found = _at_line(ledger, wanted)
    else:
        found = ledger.find(_number(wanted))
    if found is None:
        _refuse_damaged(project, task, wanted)
        raise NotFound(
            f"task {task.name!r} has no step {wanted!r}", hint="`siding log` shows the steps"
        )
    return task, found


def _at_line(ledger: Ledger, wanted: str) -> Step | None:
    """Return the step that ``NUMBER@LINE`` names, None if there is none."""
    number, _at, line = wanted.partition("@")
    if not line.isascii() or not line.isdigit():
        _number(wanted)  # raises UsageError
    return dict(ledger.numbered(_number(number))).get(int(line))


def same_number(project: Project, task: Task, found: Step) -> str | None:
    """Return a sentence if other steps have the number of `found`, and it is the newest of them.

    Steps that Siding recorded share no number; another tool begins again after 9999.
    """
    if found.is_chained:
        return None
    numbered = project.ledger(task.id).numbered(found.number)
    if len(numbered) < 2 or numbered[-1][1] != found:
        return None
    others = ", ".join(f"{found.number}@{line}" for line, _step in numbered[:-1])
    return (
        f"{len(numbered)} steps of another tool have the number {found.id}; this is the newest, on "
        f"line {numbered[-1][0]} of ledger.jsonl, and by their lines the others are {others}"
    )


def _refuse_damaged(project: Project, task: Task, wanted: str) -> None:
    """Raise DamagedStep if the wanted step was on a line that cannot be read."""
    for line in damaged_steps(project, task, whole=True):
        if wanted == "last" or line.number == _number(wanted):
            name = f"{line.number:04d}" if line.number else "?"
            raise DamagedStep(
                f"step {name} of task {task.name!r} was on {line.where}, which is damaged: "
                f"{line.reason}",
                hint="the line is kept as it is; the step's patch and output may still be in "
                f"{str(project.task_layout(task.id).artifacts_dir)!r}",
            )


def running_step(project: Project, named: str | None, wanted: str) -> tuple[Task, Step] | None:
    """Return the step in progress that `wanted` names, else None.

    The name is the run's (``r7``), the number that the step will probably get, or ``last``. A turn
    of the run may have got that number since: then it is the turn's.
    """
    task = select(project, named)
    for found in reversed(in_progress(project, task)):
        if wanted == "last" or _is_named(found, wanted):
            is_taken = wanted != found.name and wanted != "last"
            if is_taken and project.ledger(task.id).find(found.intent.number) is not None:
                return None
            return task, step_from(progress_record(found))
    return None


def _is_named(found: InProgress, wanted: str) -> bool:
    if is_run_id(wanted):
        return found.name == wanted
    return _number(wanted) == found.intent.number


def _number(text: str) -> int:
    if text.removeprefix("#") == "0000":
        return 0  # another tool counts on from 9999 with it; no step of ours has it
    try:
        return step_number(text)
    except ValueError:
        raise UsageError(
            f"{text!r} is not a step",
            hint="give a number such as 3 or 0003, a run such as r7, or `last`",
        ) from None
