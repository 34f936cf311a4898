"""Where a call belongs: its project, task and run, by the directory it was made in and when."""

import os
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path

from siding.agents.transcripts.counting.spending import Spent
from siding.agents.transcripts.kinds import moment
from siding.ground.namedtuples import NamedTuple
from siding.record.ledger.run_details import RunDetail
from siding.record.ledger.step import Step
from siding.record.place.project import Project
from siding.record.place.projects import known_projects
from siding.record.place.wiring import App, HomeHidden

NOWHERE = "-"
Namer = Callable[[Spent], str]
_SLACK_MS = 2_000  # a client writes its last line a little after it was told to end


class _Run(NamedTuple):
    name: str
    session: str
    began: int
    ended: int


def project_names(app: App) -> Namer:
    """Return what names the project of a call; outside of all it is the directory."""
    projects: list[Project] = []
    with suppress(HomeHidden):  # in a sandbox each is its directory
        projects += [each.project for each in known_projects(app) if each.project is not None]

    @cache
    def name(cwd: str) -> str:
        if not os.path.isabs(cwd):
            return NOWHERE
        for project in projects:
            if holds(project, cwd):
                return project.layout.root.name
        return cwd

    return lambda spent: name(spent.call.cwd)


def holds(project: Project, cwd: str) -> bool:
    """Whether a directory is in the project's checkout or in a workspace of it."""
    return os.path.isabs(cwd) and (
        Path(cwd).is_relative_to(project.paths.main_worktree or os.devnull)
        or project.task_around(Path(cwd)) is not None
    )


def task_names(project: Project) -> Namer:
    """Return what names the task in whose workspace a call was made."""

    @cache
    def name(cwd: str) -> str:
        found = project.task_around(Path(cwd)) if os.path.isabs(cwd) else None
        return found or NOWHERE

    return lambda spent: name(spent.call.cwd)


def run_names(project: Project) -> Namer:
    """Return what names the run that a call was made in.

    It is the run whose agent reported this conversation, at that time; of agents that report
    nothing, the only one that ran in the task then.
    """
    task_in = task_names(project)

    @cache
    def runs(task: str) -> tuple[_Run, ...]:
        found = next((each for each in project.tasks.readable() if each.id == task), None)
        if found is None:
            return ()
        steps = project.ledger(found.id).steps()
        return tuple(
            _run(found.name, each, run) for each in steps if (run := each.as_run) is not None
        )

    def name(spent: Spent) -> str:
        task = task_in(spent)
        near = [
            each
            for each in runs(task)
            if each.began - _SLACK_MS <= spent.call.at <= each.ended + _SLACK_MS
            and each.session in ("", spent.session)
        ]
        named = [each for each in near if each.session]
        chosen = named or near
        return chosen[0].name if len(chosen) == 1 else NOWHERE

    return name


def _run(task: str, step: Step, run: RunDetail) -> _Run:
    session = run.reported.session if run.reported else ""
    return _Run(
        name=f"{task} {step.id}",
        session=session,
        began=moment(step.started_at) or 0,
        ended=moment(step.ended_at) or 0,
    )
