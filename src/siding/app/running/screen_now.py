"""The last screen of a program that draws on its terminal, also while it lives."""

from siding.app.place.project import Project
from siding.app.recording.last_screen import last_screen
from siding.app.recording.outputs import Output
from siding.app.running.attach import size_of_terminal
from siding.ledger.step import Step
from siding.process.command import StreamPlan
from siding.tasks.task import Task


def screen_lines(project: Project, task: Task, step: Step, kept: Output) -> tuple[str, ...] | None:
    """Return the lines of the last screen; None if the program prints lines."""
    if kept.streams is not StreamPlan.PTY:
        return None
    lives = bool(step.run) and not step.ended_at
    size = size_of_terminal(project, task.id, step.run) if lives else None
    found = last_screen(step, kept, size)
    return None if found is None else found.lines
