"""The day over all projects: what waits for a person, what runs, what broke, what can be applied.

It is the feed in four sections. Each line has the command to type, which works from wherever the
caller stands.
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum

from siding.asking.views import Waits
from siding.feed.chat_facts import ChatFacts
from siding.feed.fold import HomeFold
from siding.feed.model import Ask, Row
from siding.feed.moments import moment_of
from siding.feed.places import Place, places_of
from siding.feed.rows import task_key, workflow_key
from siding.feed.running import A_SCREEN, LeftRow, RunningRow, running
from siding.feed.seen import Seen
from siding.feed.task_facts import TaskFacts
from siding.feed.task_work import Figures
from siding.feed.workflow_facts import WorkflowFacts
from siding.ground.errors import SidingError, counted
from siding.ground.ids import TaskId, is_fork
from siding.ground.namedtuples import NamedTuple
from siding.record.place.wiring import App


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
    id: str = ""  # of the ask; "" for what asks nothing
    row: str = ""  # the key of its row in the feed; "" for none
    state: str = ""  # of that row
    unseen: bool = False  # it says something that the person has not looked at
    address: str = ""


class Today(NamedTuple):
    """The lines, and sentences about what cannot be read. `projects` counts all."""

    lines: tuple[Line, ...]
    problems: tuple[str, ...]
    projects: int

    def section(self, section: Section) -> list[Line]:
        """Return the lines of one section, in their order."""
        return [line for line in self.lines if line.section == section]


def today(app: App) -> Today:
    """Return the day over all projects of the home; only caches are written.

    Raises HomeHidden in a sandbox.
    """
    fold = HomeFold(app)
    feed = fold.look()
    folds = {each.project.layout.root.name: each for each in fold.projects}
    places = {
        each.project.layout.root.name: each
        for each in places_of(app, [each.project for each in folds.values()])
    }
    problems = list(feed.problems)
    lines = [_ask(places[ask.entry.project_dir.rpartition("/")[2]], ask) for ask in feed.asks]
    ready: list[Line] = []
    for name, place in places.items():
        tasks, flows = folds[name].tasks, folds[name].flows
        for task in tasks.values():
            try:
                lines += _runs(place, task)
            except (SidingError, OSError) as error:
                reason = error.message if isinstance(error, SidingError) else str(error)
                problems.append(f"project {name}: {reason}")
        lines += [_workflow(place, flow, tasks) for flow in flows if flow.is_live]
        ready += [_ready(place, task) for task in tasks.values() if _is_ready(task)]
    lines.sort(key=lambda line: (not line.since, _order(line)))
    ready.sort(key=lambda line: moment_of(line.since), reverse=True)
    rows = {row.key: row for row in feed.rows}
    seen = Seen(app.home)
    found = tuple(_with_row(line, rows, seen) for line in (*lines, *ready))
    return Today(found, tuple(problems), feed.projects)


def _order(line: Line) -> float:
    """What waits and runs comes with the oldest first, what broke with the newest first."""
    at = moment_of(line.since)
    return -at if line.section == Section.BROKE else at


def _with_row(line: Line, rows: Mapping[str, Row], seen: Seen) -> Line:
    """Return the line with what the feed says of its row."""
    row = rows.get(line.row)
    if row is None:
        return line
    return line._replace(
        state=row.state.value,
        unseen=seen.is_unseen(row),
        address=line.address or row.address,
    )


def _ask(place: Place, ask: Ask) -> Line:
    entry = ask.entry
    broke = entry.kind in (Waits.FAILED, Waits.WORKFLOW, Waits.CUT_OFF)
    return Line(
        section=Section.BROKE.value if broke else Section.WAITS.value,
        mark=entry.kind,
        project=place.name,
        task=entry.task_name,
        what=entry.title,
        since=entry.since,
        command=place.command(entry.command),
        id=ask.id,
        row=ask.row,
        address=ask.address,
    )


def _runs(place: Place, task: TaskFacts) -> Iterator[Line]:
    """Yield the runs of a task that live, and those that left something running."""
    key = task_key(place.project.layout.root.name, task.id)
    held = {each.run for each in task.chats}
    if task.live:
        for row in running(place.project, task.id):
            if row.run not in held:
                yield _run(place, row)._replace(row=key)
    for chat in task.chats:
        if chat.is_at_work:
            yield _chat(place, task, chat)._replace(row=f"{key}/{chat.id}")
    for left in task.left:
        yield _left(place, left)._replace(row=key)


def _run(place: Place, row: RunningRow) -> Line:
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


def _chat(place: Place, task: TaskFacts, chat: ChatFacts) -> Line:
    more = f", {counted(chat.queued, 'prompt')} after it" if chat.queued else ""
    return Line(
        section=Section.RUNS.value,
        mark=chat.id,
        project=place.name,
        task=task.name,
        what=f"{chat.agent} · {chat.what}{more}",
        since=chat.since,
        command=place.command(f"siding chat show -c {chat.id} -t {task.id} --follow"),
    )


def _workflow(place: Place, flow: WorkflowFacts, tasks: Mapping[TaskId, TaskFacts]) -> Line:
    task = tasks.get(TaskId(flow.task))
    return Line(
        section=Section.RUNS.value,
        mark=flow.id,
        project=place.name,
        task=task.name if task is not None and task.is_open else "",
        what=f"{flow.name} · {'waits for you' if flow.waits else flow.progress}",
        since=flow.started_at,
        command=place.command(f"siding workflow watch {flow.id}"),
        row=workflow_key(place.project.layout.root.name, flow.id),
    )


def _left(place: Place, row: LeftRow) -> Line:
    return Line(
        section=Section.RUNS.value,
        mark=row.run,
        project=place.name,
        task=row.task_name,
        what=f"ended, {row.said}",
        since=row.started_at,
        command=place.command(f"siding stop {row.run} -t {row.task}"),
    )


def _is_ready(task: TaskFacts) -> bool:
    """Tell whether a task at rest has something to apply, also if its last step failed."""
    rests = not (task.busy or task.cut_off or task.acting)
    return task.is_open and rests and task.unapplied > 0 and not is_fork(task.id)


def _ready(place: Place, task: TaskFacts) -> Line:
    figures = task.figures or Figures(0, 0, 0)
    return Line(
        section=Section.READY.value,
        mark=f"+{task.unapplied}",
        project=place.name,
        task=task.name,
        what=str(task.row["last_command"]),
        since=str(task.row["last_at"]),
        command=place.command(f"siding apply -t {task.id}"),
        files=figures.files,
        additions=figures.additions,
        deletions=figures.deletions,
        row=task_key(place.project.layout.root.name, task.id),
    )
