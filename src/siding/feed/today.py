"""The day over all projects: what waits for a person, what runs, what broke, what can be applied.

Nothing is stored; it is read each time. Each line has the command to type, which works from
wherever the caller stands.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from enum import StrEnum
from heapq import nlargest
from shlex import quote

from siding.asking.views import InboxEntry, Waits, moment_iso
from siding.feed.board import TaskRow, rows
from siding.feed.inbox import waiting_in
from siding.feed.moments import moment_of
from siding.feed.running import A_SCREEN, LeftRow, RunningRow, left_running, running
from siding.ground.errors import SidingError
from siding.ground.git.discovery import find_repository
from siding.ground.git.errors import NotARepository
from siding.ground.ids import TaskId
from siding.ground.namedtuples import NamedTuple
from siding.record.ledger.intents import Intents
from siding.record.ledger.step import Step
from siding.record.ledger.unapplied import Unapplied, unapplied
from siding.record.place.lost_projects import all_places
from siding.record.place.project import Project
from siding.record.place.projects import known_projects
from siding.record.place.wiring import App
from siding.record.recording.line_base import line_base
from siding.record.recording.snapshots import TaskSnapshots
from siding.record.snapshots.patches import DiffStat

MOST_READY = 50  # tasks that are looked at for changes to apply: the newest ones


class Section(StrEnum):
    """The parts of the day, in the order in which they are shown."""

    WAITS = "waits"
    RUNS = "runs"
    BROKE = "broke"
    READY = "ready"


class Line(NamedTuple):
    """One thing of the day. An agent may have written the texts: escape them before display."""

    section: str
    mark: str  # one word: the kind of what waits, the run, how it broke
    project: str  # its name, without the hash if no other project has the same one
    task: str  # its name; "" for what belongs to no task
    what: str
    since: str  # ISO 8601; "" if it is unknown
    command: str
    files: int = 0  # what an apply would bring, as far as it is known
    additions: int = 0
    deletions: int = 0


class Today(NamedTuple):
    """The lines, and sentences about projects that cannot be read. `projects` counts all."""

    lines: tuple[Line, ...]
    problems: tuple[str, ...]
    projects: int

    def section(self, section: Section) -> list[Line]:
        """Return the lines of one section, in their order."""
        return [line for line in self.lines if line.section == section]


def today(app: App) -> Today:
    """Return the day over all projects of the home; only the caches of the boards are written.

    Raises HomeHidden in a sandbox.
    """
    found = list(known_projects(app))
    problems = [each.problem for each in found if each.project is None]
    lines: list[Line] = []
    ready: list[_Ready] = []
    for place in _places(app, [each.project for each in found if each.project is not None]):
        try:
            tasks, live = rows(place.project, include_closed=False), running(place.project)
            lines += _waits_and_broke(place, tasks, problems)
            lines += [_run(place, row) for row in live]
            lines += [_left(place, row) for row in left_running(place.project)]
            lines += _workflows(place, tasks)
            ready += _candidates(place, tasks, {row.task for row in live})
        except (SidingError, OSError) as error:
            reason = error.message if isinstance(error, SidingError) else str(error)
            problems.append(f"project {place.project.layout.root.name}: {reason}")
    lines.sort(key=lambda line: (not line.since, _order(line)))
    return Today((*lines, *_ready_lines(ready)), tuple(problems), len(found))


def _order(line: Line) -> float:
    """What waits and runs comes with the oldest first, what broke with the newest first."""
    at = moment_of(line.since)
    return -at if line.section == Section.BROKE else at


class FoundRun(NamedTuple):
    """A run that lives or left something running, and the name of its project."""

    project: str
    row: RunningRow | LeftRow


def all_running(app: App) -> tuple[list[FoundRun], list[str]]:
    """Return the runs of all projects, oldest first, and sentences about what cannot be read."""
    found = list(known_projects(app))
    problems = [each.problem for each in found if each.project is None]
    runs: list[FoundRun] = []
    for place in _places(app, [each.project for each in found if each.project is not None]):
        try:
            runs += [FoundRun(place.name, row) for row in running(place.project)]
            runs += [FoundRun(place.name, row) for row in left_running(place.project)]
        except SidingError as error:
            problems.append(f"project {place.project.layout.root.name}: {error.message}")
    return sorted(runs, key=lambda each: each.row.started_at), problems


class _Place(NamedTuple):
    """A project, its name here, and what a command needs to be about it."""

    project: Project
    name: str
    option: str

    def command(self, words: str) -> str:
        return words.replace("siding", f"siding{self.option}", 1)


class _Ready(NamedTuple):
    place: _Place
    row: TaskRow


def _places(app: App, projects: list[Project]) -> Iterator[_Place]:
    # Of all projects: also one that cannot be opened makes a name ambiguous for `--project`.
    short = Counter(_short(place.name) for place in all_places(app))
    here = _here(app, projects)
    for project in projects:
        full = project.layout.root.name
        name = full if short[_short(full)] > 1 else _short(full)
        yield _Place(project, name, "" if project is here else f" --project {quote(name)}")


def _short(name: str) -> str:
    return name.rpartition("-")[0]


def _here(app: App, projects: list[Project]) -> Project | None:
    try:
        root = find_repository(app.cwd).common_dir
    except (NotARepository, OSError):
        return None
    return next((each for each in projects if each.paths.common_dir == root), None)


def _waits_and_broke(
    place: _Place, tasks: Iterable[TaskRow], problems: list[str]
) -> Iterator[Line]:
    inbox = waiting_in(place.project)
    problems += inbox.problems
    for entry in inbox.entries:
        yield _entry(place, entry)
    for row in tasks:
        if row.running:
            yield from _cut_off(place, row)


def _entry(place: _Place, entry: InboxEntry) -> Line:
    broke = entry.kind in (Waits.FAILED, Waits.WORKFLOW)
    return Line(
        section=Section.BROKE.value if broke else Section.WAITS.value,
        mark=entry.kind,
        project=place.name,
        task=entry.task_name,
        what=entry.title,
        since=entry.since,
        command=place.command(entry.command),
    )


def _cut_off(place: _Place, row: TaskRow) -> Iterator[Line]:
    """Yield the acts of a task whose process died before they were recorded."""
    intents = Intents(place.project.task_layout(TaskId(row.id)))
    for intent in intents.all():
        if intents.is_cut_off(intent):
            yield Line(
                section=Section.BROKE.value,
                mark="cut off",
                project=place.name,
                task=row.name,
                what=f"{intent.kind} {intent.title}".strip(),
                since=intent.started_at,
                command=place.command(f"siding checkpoint -t {row.id}"),  # it settles them first
            )


def _run(place: _Place, row: RunningRow) -> Line:
    draws = row.last_line == A_SCREEN
    look = f"siding attach {row.run}" if draws else f"siding output {row.run} --follow"
    return Line(
        section=Section.RUNS.value,
        mark=row.run,
        project=place.name,
        task=row.task_name,
        what=f"{row.command} · {row.last_line}" if row.last_line and not draws else row.command,
        since=row.started_at,
        command=place.command(f"{look} -t {row.task}"),
    )


def _workflows(place: _Place, tasks: Iterable[TaskRow]) -> Iterator[Line]:
    """Yield the runs of workflows that are at work."""
    if not place.project.layout.workflow_runs_dir.is_dir():
        return
    # Imported here because most projects have no workflows.
    from siding.feed.workflow_runs import live_runs

    names = {row.id: row.name for row in tasks}
    for run in live_runs(place.project):
        yield Line(
            section=Section.RUNS.value,
            mark=run.run_id,
            project=place.name,
            task=names.get(run.task, ""),
            what=f"{run.name} · {'waits for you' if run.waits else run.progress}",
            since=moment_iso(run.started_at),
            command=place.command(f"siding workflow watch {run.run_id}"),
        )


def _left(place: _Place, row: LeftRow) -> Line:
    return Line(
        section=Section.RUNS.value,
        mark=row.run,
        project=place.name,
        task=row.task_name,
        what=f"ended, {row.said}",
        since=row.started_at,
        command=place.command(f"siding stop {row.run} -t {row.task}"),
    )


def _candidates(place: _Place, tasks: Iterable[TaskRow], busy: Collection[str]) -> list[_Ready]:
    return [
        _Ready(place, row)
        for row in tasks
        if row.steps and row.id not in busy and not row.running and row.workspace != "removed"
    ]


def _ready_lines(candidates: list[_Ready]) -> Iterator[Line]:
    """Yield the tasks with changes that are not applied, those with the newest step first."""
    for place, row in nlargest(MOST_READY, candidates, key=lambda each: each.row.last_at):
        found = unapplied(place.project.ledger(TaskId(row.id)))
        if not found.steps or _is_in_conflict(found.last):
            continue
        stat = _change(place.project, TaskId(row.id), found)
        if stat is not None and not stat.files:
            continue  # what the steps changed they have changed back
        yield Line(
            section=Section.READY.value,
            mark=f"+{found.steps}",
            project=place.name,
            task=row.name,
            what=row.last_command,
            since=row.last_at,
            command=place.command(f"siding apply -t {row.id}"),
            files=0 if stat is None else stat.files,
            additions=0 if stat is None else stat.additions,
            deletions=0 if stat is None else stat.deletions,
        )


def _is_in_conflict(last: Step | None) -> bool:
    """Tell whether the newest step left conflicts in the workspace: an apply would be refused."""
    return last is not None and last.merged is not None and bool(last.merged.conflicts)


def _change(project: Project, task_id: TaskId, found: Unapplied) -> DiffStat | None:
    """Return the figures of what is not applied; None if they are not known. Starts git once."""
    workspace = project.workspaces.of_task(task_id)
    tip = found.last.snapshot if found.last is not None else None
    if workspace is None or not workspace.base_snapshot or not tip:
        return None
    try:
        since = found.since or line_base(project, workspace).snapshot
        return TaskSnapshots(project, workspace).diff_stat(since, tip)
    except SidingError:  # the snapshots are gone; `siding verify` reports that
        return None
