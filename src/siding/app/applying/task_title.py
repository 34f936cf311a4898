"""Choose the title of a task's published work.

A task that nobody named is called after its first command. If a rollback went back from that step,
the command must not be published: it may quote what the person removed.
"""

from siding.app.place.project import Project
from siding.ledger.left_behind import abandoned_steps, returns_in
from siding.ledger.step import Step, StepKind
from siding.tasks.names import name_after_command
from siding.tasks.task import Task

_COMPARED = 40  # characters; releases differ in how they cut a long name


def title_of(project: Project, task: Task, base_snapshot: str) -> str:
    """Return the task's name. One made from a command that was gone back from is replaced.

    The replacement is made from the newest command that still counts. The whole ledger is read only
    if the name may be made from a command.
    """
    ledger = project.ledger(task.id)
    first = ledger.find(1)
    if first is None or not _is_named_after(task, first):
        return task.name
    steps = list(ledger.steps())
    abandoned = abandoned_steps(steps, returns_in(steps, base_snapshot))
    if first.number not in abandoned:
        return task.name
    runs = [s for s in steps if s.kind == StepKind.RUN and s.cmd and s.number not in abandoned]
    return name_after_command(list(runs[-1].cmd)) if runs else f"task {task.id}"


def _is_named_after(task: Task, step: Step) -> bool:
    made = name_after_command(list(step.cmd)) if step.cmd else ""
    return bool(made) and made[:_COMPARED] == task.name[:_COMPARED]
