"""List what waits for a person, in all projects. The inbox stores nothing; it is read each time.

- open decisions;
- steps that the policy blocked, if they are the last step of an open task;
- steps that failed, timed out or were cut off, if they are the last step of an open task;
- conflicts: a target branch was merged into a workspace and has conflict markers to resolve;
- runs of workflows that failed or were interrupted, in open tasks;
- hooks that came with a repository and that the person has neither allowed nor refused.

An entry disappears with its cause: after an answer, a next step, a resumed or a newer run of the
workflow, the end of the task, or `siding trust`.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from siding.asking.lookup import damaged_decisions, list_decisions
from siding.asking.views import InboxEntry, Waits, agent_entry, decision_entry, entry, step_entry
from siding.feed.agent_waits import run_stems, waits_of
from siding.feed.board import TaskRow, rows
from siding.feed.moments import moment_of
from siding.ground.errors import SidingError
from siding.ground.ids import TaskId
from siding.ground.namedtuples import NamedTuple
from siding.guard.hooks import repository_hooks
from siding.record.ledger.step import StepStatus
from siding.record.place.project import Project
from siding.record.place.projects import known_projects
from siding.record.place.wiring import App
from siding.record.runs.reported import Reported, read_reported
from siding.record.runs.store import Runs

if TYPE_CHECKING:
    from siding.workflows.display import RunSummary


_RECORDED_WITHIN_S = 2.0  # a step is recorded a moment after the run that it is part of has ended


# In the messages of an apply that was resolved in the workspace, and of a sync.
_OF_CONFLICTS = ("to be resolved", "conflicts to resolve")


class Inbox(NamedTuple):
    """The entries, longest waiting first, and sentences about what could not be read."""

    entries: tuple[InboxEntry, ...]
    problems: tuple[str, ...]


def waiting(app: App) -> Inbox:
    """Return the entries of all projects of the home."""
    entries: list[InboxEntry] = []
    problems: list[str] = []
    for found in known_projects(app):
        if found.project is None:
            problems.append(found.problem)
            continue
        inbox = waiting_in(found.project)
        entries += inbox.entries
        problems += inbox.problems
    return Inbox(entries=_sorted(entries), problems=tuple(problems))


def waiting_in(project: Project) -> Inbox:
    """Return the entries of one project. A part that cannot be read does not hide the others."""
    entries: list[InboxEntry] = []
    problems: list[str] = []
    for part in (_decisions, _tasks, _workflows, _hooks):
        try:
            for each in part(project):
                if isinstance(each, str):
                    problems.append(f"project {project.layout.root.name}: {each}")
                else:
                    entries.append(each)
        except (SidingError, OSError) as error:
            reason = error.message if isinstance(error, SidingError) else str(error)
            problems.append(f"project {project.layout.root.name}: {reason}")
    return Inbox(entries=_sorted(entries), problems=tuple(problems))


def _decisions(project: Project) -> Iterator[InboxEntry | str]:
    found, problems = list_decisions(project)
    yield from problems
    for damaged in damaged_decisions(project):
        yield entry(
            project,
            kind=Waits.DECISION,
            title=f"decision {damaged.session_id} is damaged: {damaged.file}",
            detail=damaged.problem,
            since="",
            command="siding doctor",
            page="",
            session_id=damaged.session_id,
        )
    names = {row.id: row.name for row in rows(project, include_closed=True)} if found else {}
    for decision in found:
        yield decision_entry(project, decision, names.get(decision.task_id, ""))


def _tasks(project: Project) -> Iterator[InboxEntry | str]:
    for row in rows(project, include_closed=False):
        if row.running:
            yield from _agents(project, row)
        if row.running or not _may_wait(row):
            continue
        step = project.ledger(TaskId(row.id)).last()
        found = step and step_entry(project, row.id, row.name, step)
        if found:
            yield found


def _agents(project: Project, row: TaskRow) -> Iterator[InboxEntry]:
    layout = project.task_layout(TaskId(row.id))
    stems = run_stems(layout)
    for run in Runs(layout).live():
        reported = read_reported(layout, run.id) or Reported()
        waits = waits_of(project, TaskId(row.id), run, stems, reported)
        if waits:
            since = reported.waits_since or run.started_at
            known = reported._replace(waits=waits, waits_since=since)
            yield agent_entry(project, row.id, row.name, run, known)


def _workflows(project: Project) -> Iterator[InboxEntry | str]:
    if not project.layout.workflow_runs_dir.is_dir():
        return
    # Imported here because most projects have no workflows, and every `siding` reads the inbox.
    from siding.feed.workflow_runs import stopped_runs
    from siding.workflows.display import workflow_entry

    for run, row in stopped_runs(project, rows(project, include_closed=False)):
        if not _was_taken_on(run, row):
            yield workflow_entry(project, row.name, run)


def _was_taken_on(run: "RunSummary", row: TaskRow) -> bool:
    """Tell whether the task has a later step than a run that failed: somebody went on from it."""
    later = moment_of(row.last_at) - run.updated_at / 1000
    return run.has_failed and later > _RECORDED_WITHIN_S


def _may_wait(row: TaskRow) -> bool:
    """Tell from a row whether the last step may need a person, to avoid reading its ledger line.

    Of the completed steps only merges with conflicts do, whose messages say so.
    """
    return bool(row.steps) and (
        row.last_status != StepStatus.COMPLETED
        or any(words in row.last_command for words in _OF_CONFLICTS)
    )


def _hooks(project: Project) -> Iterator[InboxEntry | str]:
    found = repository_hooks(project)
    if not found.hooks or found.trusted:
        return
    yield entry(
        project,
        kind=Waits.HOOKS,
        title="hooks of the repository are not allowed yet",
        detail="; ".join(command for commands in found.hooks.values() for command in commands),
        since="",
        command="siding trust --show",
        page="",
    )


def _sorted(entries: list[InboxEntry]) -> tuple[InboxEntry, ...]:
    """Return the entries, longest waiting first, and entries without a time last.

    Times are compared as moments and not as text, because their UTC offsets can differ.
    """
    return tuple(sorted(entries, key=lambda each: (not each.since, moment_of(each.since))))
