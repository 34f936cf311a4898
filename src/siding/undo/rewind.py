"""The prompts of a task: list them, and find the way back to before one (`siding rewind`)."""

import re
from collections.abc import Sequence
from contextlib import suppress

from siding.agents.table import BY_NAME
from siding.ground.errors import SidingError
from siding.ground.ids import Sha, step_number
from siding.ground.namedtuples import NamedTuple
from siding.record.ledger.turns import ReportedTurn, reported_turns
from siding.record.place.project import Project
from siding.record.place.selection import select
from siding.record.recording.snapshots import TaskSnapshots
from siding.record.restoring.refusal import Reason, Refusal
from siding.record.runs.reported import title_of
from siding.record.runs.store import Runs
from siding.record.tasks.task import Task

__all__ = ["Changed", "Prompt", "Prompts", "changed_in", "find_prompt", "prompts"]

NEWEST = "last"
_ID = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{7,63}")  # a run may have reported anything: an option


class Prompt(NamedTuple):
    """One thing that an agent was asked, and what came of it.

    `lives` is the id of its run if that goes on. Else `again` is the command line that goes on with
    the conversation; empty if nobody knows it.
    """

    turn: ReportedTurn
    agent: str
    lives: str
    again: tuple[str, ...]

    @property
    def title(self) -> str:
        return title_of(self.turn.detail.prompts)

    @property
    def before(self) -> str | None:
        """The id of the step that it began with; None for the base."""
        return f"{self.turn.on:04d}" if self.turn.on else None


class Changed(NamedTuple):
    """The figures of what a whole turn changed."""

    files: int
    additions: int
    deletions: int
    modes: int
    links: int
    directories: int


class Prompts(NamedTuple):
    """The prompts of a task, oldest first."""

    task: Task
    all: Sequence[Prompt]


def prompts(project: Project, named: str | None) -> Prompts:
    """Return the prompts of a task. Reads the whole ledger, and takes no lock."""
    task = select(project, named)
    steps = list(project.ledger(task.id).steps())
    living = {run.id: run.agent or "" for run in Runs(project.task_layout(task.id)).live()}
    agents = {step.run: step.agent or "" for step in steps if step.run} | living
    return Prompts(task, [_prompt(turn, agents, living) for turn in reported_turns(steps)])


def find_prompt(found: Prompts, named: str) -> Prompt:
    """Return the prompt whose turn is the step `named`; `last` is the newest that stands.

    Raises Refusal.
    """
    if named == NEWEST:
        standing = [each for each in found.all if each.turn.stands]
        if standing:
            return standing[-1]
    try:
        number = step_number(named)
    except ValueError:
        number = 0
    for each in found.all:
        if each.turn.step.number == number:
            return each
    what = "no prompt stands" if named == NEWEST else f"step {named!r} is no agent's turn"
    raise Refusal(Reason.NO_PROMPT, what=what, task=found.task.name)


def changed_in(project: Project, found: Prompts, prompt: Prompt) -> Changed:
    """Return what a turn changed, its steps of tool calls included.

    Where there are none this is in the step; else git compares the two snapshots. If they are gone,
    it is what came after the last call.
    """
    step, last = prompt.turn.step, prompt.turn.last
    began = prompt.turn.detail.returns or (step.parent if last != step else "")
    workspace = project.workspaces.of_task(found.task.id)
    if began and last.snapshot and workspace is not None:
        with suppress(SidingError):
            snapshots = TaskSnapshots(project, workspace)
            stat = snapshots.diff_stat(Sha(began), Sha(last.snapshot))
            modes = snapshots.mode_figures(Sha(began), Sha(last.snapshot), None)
            return Changed(
                files=stat.files,
                additions=stat.additions,
                deletions=stat.deletions,
                modes=modes.total,
                links=modes.links,
                directories=modes.directories,
            )
    return Changed(
        files=step.files,
        additions=step.additions,
        deletions=step.deletions,
        modes=step.modes,
        links=step.links,
        directories=step.directories,
    )


def _prompt(turn: ReportedTurn, agents: dict[str, str], living: dict[str, str]) -> Prompt:
    run, session = turn.detail.run, turn.detail.session
    agent = BY_NAME.get(agents.get(run, "") or turn.step.agent)
    lives = run if run in living else ""
    is_known = agent is not None and bool(agent.resumes) and _ID.fullmatch(session) is not None
    again = (*agent.resumes, session) if agent is not None and is_known else ()
    return Prompt(turn, agent.name if agent else "", lives, () if lives else again)
