"""Choose the title of a task's published work, and the lines that name its record.

A task that nobody named is called after its first command. What its agent was asked says more. If a
rollback went back from that step or turn, its words must not be published: they may quote what the
person removed.
"""

import re
from collections.abc import Sequence

from siding.agents.table import BY_PROGRAM
from siding.record.ledger.step import Step
from siding.record.place.project import Project
from siding.record.tasks.names import cut_at_word, name_after_command
from siding.record.tasks.task import Task

_COMPARED = 40  # characters; releases differ in how they cut a long name
_LONGEST = 72  # characters of a commit's subject; git's own tools cut longer ones

# Words as a person writes them. What else stands in an argument is of a program's own language.
_PLAIN = re.compile(r"[^\W\d_][\w ,.:;!?()'-]*")


def task_trailers(project: Project, task: Task, steps: str = "") -> tuple[tuple[str, str], ...]:
    """Return the lines that name a task, and its `steps`, in a commit or pull request.

    Nothing reads them but people: what was applied or pushed is in the record.
    """
    if not project.settings.trailers:
        return ()
    named = (("Siding-Task", task.id),)
    return (*named, ("Siding-Steps", steps)) if steps else named


def title_of(project: Project, task: Task, base_snapshot: str) -> str:
    """Return what the task's work is called: a line of at most 72 characters, cut at a word.

    A name that a person gave is taken. One made from a command gives way to the first prompt that
    stands, else to what the command asks for. If its command was gone back from, the title is made
    from the newest command that still counts. The whole ledger is read only if the name may be made
    from a command.
    """
    return cut_at_word(_first_line(_title_of(project, task, base_snapshot)), _LONGEST)


def _title_of(project: Project, task: Task, base_snapshot: str) -> str:
    ledger = project.ledger(task.id)
    first = ledger.find(1)
    if first is None or not (_is_of_run(first) or _is_named_after(task, first)):
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
        return asked
    if first.number not in abandoned:
        return _asked_of(commands[0]) or task.name
    runs = [step for step in stand if step.cmd]
    if not runs:
        return f"task {task.id}"
    newest = runs[-1].cmd
    return _asked_of(newest) or name_after_command(list(newest))


def _first_line(text: str) -> str:
    """Return the first line of a text that says something."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def _asked_of(command: Sequence[str]) -> str:
    """Return what a command line asks its program for in plain words; "" if it does not."""
    words = [word for word in command[1:] if not word.startswith("-")]
    asked = _first_line(max(words, key=len, default=""))
    if " " not in asked:
        return ""
    is_agent = command[0].rpartition("/")[2] in BY_PROGRAM
    return asked if is_agent or _PLAIN.fullmatch(asked) else ""


def _is_of_run(step: Step) -> bool:
    """Tell whether a step was recorded while a run lived, whose own step comes later."""
    detail = step.as_checkpoint
    return bool(step.turn_of) or (
        detail is not None and (detail.origin == "running" or bool(detail.prompt.strip()))
    )


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
