"""The last screen of a program that draws on its terminal, for the verbs that show output."""

from siding.app.place.project import Project
from siding.app.recording.logged import Task
from siding.app.recording.outputs import Output
from siding.app.recording.steps import Step


def screen_lines(project: Project, task: Task, step: Step, kept: Output) -> tuple[str, ...] | None:
    """Return the lines of the last screen; None if the program prints lines."""
    if kept.streams.value != "pty":
        return None
    from siding.app.recording.last_screen import last_screen  # 3 ms, for runs in a terminal

    size = None
    if step.run and not step.ended_at:
        from siding.app.running.attach import size_of_terminal

        size = size_of_terminal(project, task.id, step.run)
    found = last_screen(step, kept, size)
    return None if found is None else found.lines
