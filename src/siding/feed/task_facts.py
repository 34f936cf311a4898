"""The facts of one task: what is recorded of it, what runs in it, was cut off, or was left running.

What can change without a change of the task's document or ledger is read at each look: the names in
two directories, which are empty while the task rests.
"""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from siding.asking.views import InboxEntry, Waits, agent_entry, entry
from siding.feed.agent_waits import run_stems, waits_of
from siding.feed.board import stamp
from siding.feed.chat_facts import ChatFacts
from siding.feed.moments import moment_of
from siding.feed.running import LeftRow
from siding.feed.task_work import Figures, TaskWork
from siding.ground.clock import iso
from siding.ground.errors import SidingError
from siding.ground.ids import TaskId, is_fork
from siding.ground.namedtuples import NamedTuple
from siding.record.ledger.intent_files import SUFFIX
from siding.record.ledger.intents import Intents
from siding.record.place.project import Project
from siding.record.runs.file_names import LEFT, RECORD
from siding.record.runs.reported import Reported, first_line, read_reported
from siding.record.runs.run import Run
from siding.record.runs.store import Runs
from siding.record.tasks.registry import Workspace
from siding.record.tasks.task import TaskState
from siding.record.unfinished.left_running import left_in

_NOTHING = Reported()
# What a run prints is looked at in steps of so many seconds: else each line would change its row.
_SILENCE_STEP_S = 10
_SLACK_S = 1.0  # the step of a run, and the end in the story of its conversation, are one moment


class LiveRun(NamedTuple):
    """A run that lives. `prompt` is that of the agent's turn; `waits` is what it waits for.

    `silent_since` is when it printed last, "" for an agent that reports what it does. `chat` is the
    conversation whose agent it is.
    """

    run: Run
    prompt: str
    waits: InboxEntry | None
    silent_since: str
    chat: ChatFacts | None = None

    @property
    def rests(self) -> bool:
        """Whether its agent waits for the next prompt of a conversation."""
        return self.chat is not None and not self.chat.is_at_work

    @property
    def since(self) -> str:
        """Since when it does what it does."""
        return self.run.started_at if self.chat is None else self.chat.since

    @property
    def what(self) -> str:
        """What it does, in one line."""
        return self.prompt or self.run.title


class TaskFacts(NamedTuple):
    """All that decides the row of a task. `row` has the fields of a `TaskRow` that are recorded."""

    id: TaskId
    row: dict[str, Any]
    work: TaskWork
    live: tuple[LiveRun, ...] = ()
    cut_off: tuple[InboxEntry, ...] = ()
    left: tuple[LeftRow, ...] = ()
    workspace: Workspace | None = None
    figures: Figures | None = None  # what an apply would bring; None if that is not known
    acting: tuple[int, ...] = ()  # the processes of other acts in progress
    chats: tuple[ChatFacts, ...] = ()  # oldest first

    @property
    def busy(self) -> list[LiveRun]:
        """The runs that live and do something."""
        return [each for each in self.live if not each.rests]

    @property
    def is_open(self) -> bool:
        return bool(self.row["status"] != TaskState.CLOSED.value)

    @property
    def name(self) -> str:
        return str(self.row["name"])

    @property
    def is_restless(self) -> bool:
        """Whether it can change though no file says so: a process in it can end."""
        hosted = any(each.host for each in self.chats)
        return bool(self.live or self.left or self.cut_off or self.acting or hosted)

    @property
    def unapplied(self) -> int:
        """How many steps an apply would bring; 0 if nothing is left of what they changed."""
        nothing = self.figures is not None and not self.figures.files
        gone = self.workspace is not None and self.workspace.status.value == "removed"
        if nothing or gone or self.work.is_in_conflict or is_fork(self.id):
            return 0  # a fork is brought back, and not applied
        return self.work.unapplied

    @property
    def asks(self) -> tuple[InboxEntry, ...]:
        """What the task itself asks: its agents, what was cut off, and its last step.

        While a recorded run lives, the last step waits for nobody: a retry is under way.
        """
        found = [each.waits for each in self.live if each.waits is not None]
        if not self.is_open:
            return tuple(found)
        found += self.cut_off
        if is_fork(self.id):
            return tuple(found)  # its last step is for who made the fork
        chats = [each._replace(broke=None) if self._is_seen(each) else each for each in self.chats]
        for chat in chats:
            found += chat.asks
        is_retried = any(each.run.is_recorded for each in self.busy)
        ask = None if is_retried or self.cut_off else self.work.ask
        is_said = any(each.has_ended and each.broke for each in chats)
        if ask is not None and not (is_said and ask.kind == Waits.FAILED):
            found.append(ask)
        return tuple(found)

    def _is_seen(self, chat: ChatFacts) -> bool:
        """Tell whether somebody went on in the task after the agent of a conversation had ended."""
        last = moment_of(str(self.row["last_at"]))
        return chat.has_ended and last > moment_of(chat.since) + _SLACK_S


class Present(NamedTuple):
    """What goes on in a task at this moment. `problem` is a sentence about what cannot be read."""

    live: tuple[LiveRun, ...] = ()
    cut_off: tuple[InboxEntry, ...] = ()
    left: tuple[LeftRow, ...] = ()
    acting: tuple[int, ...] = ()
    problem: str = ""


NOTHING = Present()
Screens = dict[str, tuple[tuple[int, ...], str]]


class PresentReader:
    """Reads what goes on in the tasks of a project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._tasks = os.fspath(project.layout.tasks_dir)
        self._forks = os.fspath(project.layout.forks.tasks_dir)
        self._screens: Screens = {}  # what was read off screens: by run, for a state of its output

    def read(self, task_id: TaskId, name: str, chats: Sequence[ChatFacts] = ()) -> Present:
        """Return what goes on in a task, in which there are these conversations.

        A caller reads the ledger after this: what ends between the two is in the ledger.
        """
        if self._rests(task_id):
            return NOTHING
        layout = self.project.task_layout(task_id)
        runs = Runs(layout)
        live = runs.live()
        stems = run_stems(layout) if live else {}
        held = {each.run: each for each in chats if each.run}
        found = Present(
            tuple(
                LiveRun(run, held[run.id].what, None, "", held[run.id])
                if run.id in held
                else self._live(task_id, name, run, stems)
                for run in live
            )
        )
        try:
            cut_off, acting = _acts(self.project, task_id, name, runs)
            found = found._replace(cut_off=cut_off, acting=acting)
            if runs.has_left():
                found = found._replace(left=tuple(_left(self.project, task_id, name)))
        except (SidingError, OSError) as error:
            problem = error.message if isinstance(error, SidingError) else str(error)
            found = found._replace(problem=f"task {name}: {problem}")
        return found

    def _rests(self, task_id: TaskId) -> bool:
        """Tell by names alone that nothing goes on in a task. With thousands of tasks, joining
        strings is ten times as fast as making Path objects."""
        task = f"{self._forks if is_fork(task_id) else self._tasks}/{task_id}"
        for directory, suffixes in (("runs", (RECORD, LEFT)), ("intents", (SUFFIX,))):
            with suppress(FileNotFoundError):
                if any(name.endswith(suffixes) for name in os.listdir(f"{task}/{directory}")):
                    return False
        return not os.path.lexists(f"{task}/running.json")

    def _live(self, task_id: TaskId, name: str, run: Run, stems: Mapping[str, str]) -> LiveRun:
        layout = self.project.task_layout(task_id)
        reported = read_reported(layout, run.id) or _NOTHING
        stem, printed = stems.get(run.id), (0, 0, 0)
        if stem is not None and reported.is_nothing:
            printed = stamp(os.fspath(layout.artifact(stem, "output")))
        said = self._waits(task_id, run, stems, reported, printed)
        waits = None
        if said:
            since = reported.waits_since or run.started_at
            known = reported._replace(waits=said, waits_since=since)
            waits = agent_entry(self.project, task_id, name, run, known)
        return LiveRun(
            run=run,
            prompt=first_line(reported.prompt),
            waits=waits,
            silent_since=_silent_since(run, printed[0]) if reported.is_nothing else "",
        )

    def _waits(
        self,
        task_id: TaskId,
        run: Run,
        stems: Mapping[str, str],
        reported: Reported,
        printed: tuple[int, ...],
    ) -> str:
        """Return what an agent waits for. Its screen is drawn again only after it has printed."""
        if not reported.is_nothing:
            return waits_of(self.project, task_id, run, stems, reported)
        key = f"{task_id}/{run.id}"
        known = self._screens.get(key)
        if known is None or known[0] != printed:
            said = waits_of(self.project, task_id, run, stems, reported)
            known = self._screens[key] = (printed, said)
        return known[1]


def _silent_since(run: Run, printed_ns: int) -> str:
    """Return when a run printed last; when it began, if it has printed nothing yet."""
    if not printed_ns:
        return run.started_at
    seconds = printed_ns // 1_000_000_000
    moment = datetime.fromtimestamp(seconds - seconds % _SILENCE_STEP_S, UTC)
    return max(iso(moment), run.started_at, key=moment_of)


def _acts(
    project: Project, task_id: TaskId, name: str, runs: Runs
) -> tuple[tuple[InboxEntry, ...], tuple[int, ...]]:
    """Return the acts whose process died before they were recorded, and the processes of others."""
    intents = Intents(project.task_layout(task_id))
    found, known, acting = [], set(), []
    for intent in intents.all():
        known.add(intent.run)
        if intents.is_cut_off(intent):
            what = f"{intent.kind} {intent.title}".strip()
            which = intent.run or intent.act or str(intent.number)
            found.append(_cut_off_entry(project, task_id, name, (which, what, intent.started_at)))
        elif not intent.run:
            acting.append(intent.pid)
    for run in runs.cut_off():
        if run.id not in known:  # it makes no step
            said = (run.id, f"run {run.title}", run.started_at)
            found.append(_cut_off_entry(project, task_id, name, said))
    return tuple(found), tuple(acting)


def _cut_off_entry(
    project: Project, task_id: TaskId, name: str, said: tuple[str, str, str]
) -> InboxEntry:
    which, what, since = said
    return entry(
        project,
        kind=Waits.CUT_OFF,
        title=what,
        detail="its process died before this was recorded",
        since=since,
        command=f"siding checkpoint -t {task_id}",  # it settles them first
        page=f"/tasks/{task_id}",
        task_id=task_id,
        task_name=name,
        step_id=which,
    )


def _left(project: Project, task_id: TaskId, name: str) -> list[LeftRow]:
    return [
        LeftRow(
            run=left.run.id,
            task=task_id,
            task_name=name,
            command=left.run.title,
            name=left.run.name,
            started_at=left.run.started_at,
            ended_at=left.run.ended_at,
            processes=left.processes,
        )
        for left in left_in(project, task_id)
    ]
