"""What a step printed, in windows: never the whole of it in memory."""

from siding.app.place.project import Project
from siding.ledger.step import Step
from siding.process.output_files import Output, Span, read_output
from siding.tasks.task import Task

__all__ = ["Output", "Span", "output"]


def output(project: Project, task: Task, found: Step) -> Output | None:
    """Return the output of a step, or None when it left none."""
    run = found.as_run
    told = run.output if run else None
    counts = (None, None) if told is None else (told.stdout_bytes, told.stderr_bytes)
    layout = project.task_layout(task.id)
    # While the act goes on, its output has its id; it may get its number between two looks.
    for stem in (found.number, found.act or found.number, found.number):
        try:
            return read_output(layout.artifact(stem, "output"), *counts)
        except FileNotFoundError:
            continue
    return None
