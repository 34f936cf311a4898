"""The recorded output of a step. It is read in parts, so it need not fit into memory."""

from siding.ground.process.output.reading import Output, Span, read_output
from siding.record.ledger.step import Step
from siding.record.place.project import Project
from siding.record.tasks.task import Task

__all__ = ["Output", "Span", "output"]


def output(project: Project, task: Task, found: Step) -> Output | None:
    """Return the output of a step; None if there is none."""
    run = found.as_run
    told = run.output if run else None
    counts = (None, None) if told is None else (told.stdout_bytes, told.stderr_bytes)
    layout = project.task_layout(task.id)
    # The file has the act's id until the step is recorded. It may be renamed between two attempts,
    # so the number is tried a second time. Before that the number may be another step's.
    stems = (found.number, found.act or found.number, found.number)
    for stem in (found.act,) if found.act and not found.is_chained else stems:
        try:
            return read_output(layout.artifact(stem, "output"), *counts)
        except FileNotFoundError:
            continue
    return None
