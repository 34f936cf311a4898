"""Choose the title of a task's published work.

A task that nobody named is called after its first command. What its agent was asked says more. If a
rollback went back from that step or turn, its words must not be published: they may quote what the
person removed.
"""

from siding.record.ledger.step import Step
from siding.record.place.project import Project
from siding.record.tasks.names import name_after_command
from siding.record.tasks.task import Task

_COMPARED = 40  # characters; releases differ in how they cut a long name


def title_of(project: Project, task: Task, base_snapshot: str) -> str:
    """Return the task's name; one made from a command gives way to the first prompt that stands.

    Without a prompt the name stays, unless its command was gone back from: then it is made from the
    newest command that still counts. The whole ledger is read only if the name may be made from a
    command.
    """
    ledger = project.ledger(task.id)
    first = ledger.find(1)
    if first is None or not (_prompt(first) or _is_named_after(task, first)):
        return task.name
    steps = list(ledger.steps())
    commands = [*(step.cmd for step in steps if step.cmd), *_live(project, task)]
    if not commands or not _is_called(task, commands[0]):
        return task.name
    from siding.record.ledger.left_behind import abandoned_steps, returns_in

    abandoned = abandoned_steps(steps, returns_in(steps, base_snapshot))
    stand = [step for step in steps if step.number not in abandoned]
    prompts = filter(None, map(_prompt, stand))
    if asked := next(prompts, ""):
        from siding.record.runs.reported import first_line

        return first_line(asked)
    if first.number not in abandoned:
        return task.name
    runs = [step for step in stand if step.cmd]
    return name_after_command(list(runs[-1].cmd)) if runs else f"task {task.id}"


def _prompt(step: Step) -> str:
    """Return what an agent was asked in a turn; "" for any other step."""
    turn = step.as_checkpoint
    return turn.prompt if turn is not None and turn.prompt.strip() else ""


def _live(project: Project, task: Task) -> list[tuple[str, ...]]:
    """Return the commands of the task's runs that live."""
    from siding.record.runs.store import Runs

    return [run.cmd for run in Runs(project.task_layout(task.id)).live() if run.cmd]


def _is_named_after(task: Task, step: Step) -> bool:
    return bool(step.cmd) and _is_called(task, step.cmd)


def _is_called(task: Task, command: tuple[str, ...]) -> bool:
    """Tell whether the task's name is made from a command."""
    made = name_after_command(list(command))
    return made[:_COMPARED] == task.name[:_COMPARED]
