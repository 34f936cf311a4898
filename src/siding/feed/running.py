"""The runs that live: what each does, since when, its last line, and for whom it waits."""

import re

from siding.asking.lookup import open_questions
from siding.feed.agent_waits import run_stems, waits_of
from siding.ground.ids import TaskId
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.command import StreamPlan
from siding.ground.process.output.reading import read_output
from siding.ground.storage.layout import TaskLayout
from siding.record.place.project import Project
from siding.record.place.selection import select
from siding.record.recording.last_screen import draws
from siding.record.runs.records import has_host
from siding.record.runs.reported import Reported, read_reported
from siding.record.runs.run import Run, is_run_id
from siding.record.runs.store import Runs
from siding.record.unfinished.left_running import LeftProcess, left_in
from siding.usage.brief import brief, used_in

__all__ = ["LeftProcess", "LeftRow", "RunningRow", "left_running", "named_run", "running"]

A_SCREEN = "(a screen: siding attach)"  # in the place of the last line of a program that draws
_NOTHING = Reported()
NO_HOST = "(no host: what it prints is lost)"
_TAIL = 4096  # bytes of output in which the last line is looked for
_FORWARD = re.compile(rb"\x1b\[([0-9]{0,3})C")  # the cursor goes over blanks
_MOST_BLANKS = 200
_SEQUENCE = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|.)", re.DOTALL)


class RunningRow(NamedTuple):
    """One run that lives. `waits_for` is the id of the oldest question it asked, or ""; `waits`
    is what its agent waits for besides: what it has reported, or asks before it reports."""

    run: str
    task: str
    task_name: str
    command: str
    agent: str
    name: str
    started_at: str
    host: int
    pid: int  # of the command; 0 until it was started
    recorded: bool
    last_line: str
    waits_for: str
    waits: str = ""
    used: str = ""  # what its agent has used, in a few words
    state: str = "running"


class LeftRow(NamedTuple):
    """A run that has ended and left something running that lives."""

    run: str
    task: str
    task_name: str
    command: str
    name: str
    started_at: str
    ended_at: str
    processes: tuple[LeftProcess, ...]
    state: str = "left running"

    def as_record(self) -> dict[str, object]:
        """Return the row as values that JSON can hold."""
        return {**self._asdict(), "processes": [each._asdict() for each in self.processes]}

    @property
    def said(self) -> str:
        """What it left running, as one phrase."""
        return "left running: " + ", ".join(each.named for each in self.processes)


def running(project: Project, task: TaskId | None = None) -> list[RunningRow]:
    """Return the runs of a task, or of all tasks of the project, oldest first."""
    ids = project.ids_at_work() if task is None else [task]
    found = [row for task_id in ids for row in _in_task(project, task_id)]
    return sorted(found, key=lambda row: row.started_at)


def left_running(project: Project, task: TaskId | None = None) -> list[LeftRow]:
    """Return the runs of a task, or of all tasks, that ended and left something running."""
    ids = project.ids_at_work() if task is None else [task]
    found = [
        LeftRow(
            run=left.run.id,
            task=task_id,
            task_name=project.tasks.load(task_id).name,
            command=left.run.title,
            name=left.run.name,
            started_at=left.run.started_at,
            ended_at=left.run.ended_at,
            processes=left.processes,
        )
        for task_id in ids
        for left in left_in(project, task_id)
    ]
    return sorted(found, key=lambda row: row.started_at)


def _in_task(project: Project, task_id: TaskId) -> list[RunningRow]:
    layout = project.task_layout(task_id)
    live = Runs(layout).live()
    if not live:
        return []
    name = project.tasks.load(task_id).name
    acts, asked = run_stems(layout), _questions(project, task_id)
    reported = {run.id: read_reported(layout, run.id) or _NOTHING for run in live}
    held = _held(project, task_id, name)
    return [
        RunningRow(
            run=run.id,
            task=task_id,
            task_name=name,
            command=run.title,
            agent=run.agent or "",
            name=run.name,
            started_at=run.started_at,
            host=run.host.pid,
            pid=run.command.pid,
            recorded=run.is_recorded,
            last_line=held.get(run.id) or _last_line(layout, run, acts),
            waits_for=asked.get(run.id, ""),
            waits="" if run.id in held else waits_of(project, task_id, run, acts, reported[run.id]),
            used=brief(used_in(reported[run.id])),
        )
        for run in live
    ]


def _held(project: Project, task_id: TaskId, name: str) -> dict[str, str]:
    """Return what the conversations do whose agents the runs are: these print a protocol."""
    if not project.task_layout(task_id).chats_dir.is_dir():
        return {}
    from siding.feed.chats import chats_of

    return {
        each.run: f"{each.id} {'works' if each.is_at_work else 'rests'}: {each.what}"
        for each in chats_of(project, task_id, name, {})
        if each.run
    }


def _last_line(layout: TaskLayout, run: Run, acts: dict[str, str]) -> str:
    return last_line(layout, run, acts) if has_host(run) else NO_HOST


def _questions(project: Project, task_id: str) -> dict[str, str]:
    """Return the oldest open question of each run of a task."""
    found: dict[str, str] = {}
    for decision in open_questions(project, task_id):
        if decision.origin.step_id:
            found.setdefault(decision.origin.step_id, decision.session_id)
    return found


def last_line(layout: TaskLayout, run: Run, acts: dict[str, str]) -> str:
    """Return the last line that the run printed and that is not blank; "" if there is none.

    A program that draws on its terminal has no lines.
    """
    stem = acts.get(run.id)
    if stem is None:
        return ""
    try:
        output = read_output(layout.artifact(stem, "output"))
        data = output.stdout.tail(_TAIL) or output.stderr.tail(_TAIL)
    except OSError:
        return ""
    if output.streams is StreamPlan.PTY and draws(data):
        return A_SCREEN
    data = _FORWARD.sub(lambda found: b" " * min(int(found[1] or 1), _MOST_BLANKS), data)
    lines = re.split(rb"[\r\n]+", _SEQUENCE.sub(b"", data))
    text = next((line for line in reversed(lines) if line.strip()), b"")
    return text.decode("utf-8", "replace").strip()


def named_run(project: Project, named: str | None, wanted: str) -> str:
    """Return the id of the newest run of a task with this name; any other text unchanged."""
    if not wanted or is_run_id(wanted) or wanted.isdigit() or wanted == "last":
        return wanted
    task = select(project, named)
    live = [run for run in Runs(project.task_layout(task.id)).live() if run.name == wanted]
    if live:
        return live[-1].id
    steps = reversed(list(project.ledger(task.id).steps()))
    found = next((step for step in steps if step.run_name == wanted), None)
    return wanted if found is None else found.run
