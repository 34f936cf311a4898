"""The log of a task: its steps, which of them led to the present state, and a search of them."""

import sys
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from siding.ground.namedtuples import NamedTuple
from siding.record.ledger.kinds import BASE, StepStatus
from siding.record.ledger.present_line import PresentLine, present_line
from siding.record.ledger.step import Step
from siding.record.ledger.store import Tail
from siding.record.place.project import Project
from siding.record.place.selection import select
from siding.record.runs.store import Runs
from siding.record.tasks.task import Task

if TYPE_CHECKING:
    from siding.record.ledger.graph import Drawn

__all__ = [
    "Folded",
    "Logged",
    "PresentLine",
    "Search",
    "Task",
    "drawn",
    "folded",
    "logged",
    "logged_folded",
    "present_line",
]


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
            self.text.casefold()
            in f"{step.title}\n{step.heading}\n{step.message}\n{step.reason}".casefold()
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


class Folded(NamedTuple):
    """Steps without the turns of runs, and the turns by the run that they belong to.

    A turn whose run is neither among the steps nor alive stays among the steps.
    """

    steps: list[Step]
    turns: dict[str, list[Step]]


def folded(steps: Sequence[Step], alive: Collection[str]) -> Folded:
    """Take the turns out of some steps; `alive` are the ids of the runs that live. Pure."""
    runs = {step.run: step.number for step in steps if step.run}
    kept: list[Step] = []
    turns: dict[str, list[Step]] = {}
    for step in steps:
        run = step.run_of_turn
        if run and (run in alive or step.number < runs.get(run, 0)):
            turns.setdefault(run, []).append(step)
        else:
            kept.append(step)
    return Folded(kept, turns)


def logged_folded(
    project: Project, named: str | None, *, limit: int | None
) -> tuple[Logged, dict[str, list[Step]]]:
    """Return the newest `limit` steps, turns not counted, and the turns by the run they belong to.

    The cost follows what is shown: it reads back until the runs that are shown began.
    """
    task = select(project, named)
    alive = {run.id for run in Runs(project.task_layout(task.id)).live()}
    most = sys.maxsize if limit is None else limit
    for tail in project.ledger(task.id).growing_tails():
        found = folded(tail.steps, alive)
        shown = found.steps[-most:]
        is_enough = len(found.steps) >= most and all(_began_within(tail, step) for step in shown)
        if tail.is_all or is_enough:
            break
    runs = {step.run for step in shown} | alive
    turns = {run: each for run, each in found.turns.items() if run in runs}
    return Logged(task, shown, present_line(tail.steps)), turns


def _began_within(tail: Tail, step: Step) -> bool:
    """Tell whether the steps read reach back to where a run began."""
    since = step.since.replace(BASE, "0")
    return not since.isdecimal() or int(since) >= tail.steps[0].number - 1


def drawn(line: PresentLine, steps: Sequence[Step]) -> "list[Drawn]":
    """Return the rows of a graph of the steps, oldest first."""
    from siding.record.ledger.graph import drawn as draw  # few look at the graph

    return draw(line, steps)


def has_failed(step: Step) -> bool:
    """Return whether a step did not end well."""
    return step.status != StepStatus.COMPLETED or (step.exit_code or 0) != 0


def _touches(step: Step, path: str) -> bool:
    wanted = path.strip("/").removeprefix("./").encode("utf-8", "surrogateescape")
    if step.files == 0 and step.modes == 0:
        return False
    stat = step.diff_stat
    from siding.ground.git.paths import is_under, unquote_path

    return any(is_under(unquote_path(name), wanted) for name in stat.file_list)
