"""What a step printed, in windows: never the whole of it in memory."""

from siding.app.project import Project
from siding.ledger.step import Step
from siding.process.output_files import Output, Span, read_output
from siding.tasks.task import Task

__all__ = ["Output", "Span", "output"]


def output(project: Project, task: Task, found: Step) -> Output | None:
    """Return the output of a step, or None when it left none."""
    told = found.record.get("output")
    counts = told if isinstance(told, dict) else {}
    path = project.task_layout(task.id).artifact(found.number, "output")
    try:
        return read_output(path, counts.get("stdout_bytes"), counts.get("stderr_bytes"))
    except FileNotFoundError:
        return None
