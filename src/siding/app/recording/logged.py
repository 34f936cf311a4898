"""The log of a task: its steps, which of them led to the present state, and a search of them."""

from siding.app.place.project import Project
from siding.app.place.selection import select
from siding.git.paths import is_under, unquote_path
from siding.ledger.graph import Drawn, drawn
from siding.ledger.kinds import StepStatus
from siding.ledger.present_line import PresentLine, present_line
from siding.ledger.step import Step
from siding.namedtuples import NamedTuple
from siding.tasks.task import Task

__all__ = ["Drawn", "Logged", "PresentLine", "Search", "drawn", "logged", "present_line"]


class Search(NamedTuple):
    """What to look for in all steps; a field that is empty is not looked at.

    `text` is looked for in the command and the message, whatever the case of its letters. `path` is
    a file or directory relative to the workspace; a step matches that changed something there.
    """

    text: str = ""
    path: str = ""
    agent: str = ""
    failed: bool = False

    def finds(self, step: Step) -> bool:
        """Return whether a step matches everything that is asked for."""
        return (
            self.text.casefold() in f"{step.title}\n{step.message}\n{step.reason}".casefold()
            and (not self.agent or step.agent == self.agent)
            and (not self.failed or has_failed(step))
            and (not self.path or _touches(step, self.path))
        )


class Logged(NamedTuple):
    """Steps of a task, oldest first, and the line through it as far as it was read."""

    task: Task
    steps: list[Step]
    line: PresentLine


def logged(project: Project, named: str | None, *, limit: int | None, search: Search) -> Logged:
    """Return the newest `limit` steps that match, all if it is None.

    Without a search the cost follows the limit, and not the length of the ledger.
    """
    task = select(project, named)
    ledger = project.ledger(task.id)
    if limit is not None and search == Search():
        steps = ledger.tail(limit)
        return Logged(task, steps, present_line(steps))
    everything = list(ledger.steps())
    found = [step for step in everything if search.finds(step)]
    return Logged(task, found[-limit:] if limit else found, present_line(everything))


def has_failed(step: Step) -> bool:
    """Return whether a step did not end well."""
    return step.status != StepStatus.COMPLETED or (step.exit_code or 0) != 0


def _touches(step: Step, path: str) -> bool:
    wanted = path.strip("/").removeprefix("./").encode("utf-8", "surrogateescape")
    if step.files == 0 and step.modes == 0:
        return False
    stat = step.diff_stat
    return any(is_under(unquote_path(name), wanted) for name in stat.file_list)
