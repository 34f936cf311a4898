"""The events of steps, and the file ``events.jsonl`` in which all events of a project are.

The fields event, ts, task, worktree and error are the ones that other tools of this kind write;
``v``, ``at`` and further fields of an event are added. The file is only for other programs: Siding
never reads its state from it. Listeners in this process get each event as well.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from siding.ground.clock import Clock, iso
from siding.ground.ids import step_id
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.journals import Journal
from siding.ground.storage.layout import ProjectLayout
from siding.record.place.wiring import Heard, Listeners

if TYPE_CHECKING:
    from siding.record.ledger.intents import Intent
    from siding.record.ledger.reports import OutsideChange
    from siding.record.ledger.step import Step
    from siding.record.place.wiring import Event
    from siding.record.tasks.registry import Workspace
    from siding.record.tasks.task import Task

# Other tools of this kind have these words for the states of a task, and readers wait for them.
_STATUS_FOR_READERS = {"active": "in_progress", "closed": "completed"}


class StepStarted(NamedTuple):
    """The command of a step is about to start."""

    task: "Task"
    workspace: "Workspace"
    intent: "Intent"

    @property
    def name(self) -> str:
        return "step.started"

    @property
    def task_id(self) -> str:
        return self.task.id

    def record(self) -> dict[str, Any]:
        step = {"id": step_id(self.intent.number), "kind": self.intent.kind}
        return {**_about(self.task, self.workspace), "step": step}


class StepRecorded(NamedTuple):
    """A step is in the ledger."""

    task: "Task"
    workspace: "Workspace"
    step: "Step"

    @property
    def name(self) -> str:
        return "step.recorded"

    @property
    def task_id(self) -> str:
        return self.task.id

    def record(self) -> dict[str, Any]:
        step = {"id": self.step.id, "kind": self.step.kind, "status": self.step.status}
        return {**_about(self.task, self.workspace), "step": step}


class StepInterrupted(NamedTuple):
    """A step whose process died was recorded by a later command."""

    task: "Task"
    step: "Step"

    @property
    def name(self) -> str:
        return "step.interrupted"

    @property
    def task_id(self) -> str:
        return self.task.id

    def record(self) -> dict[str, Any]:
        step = {"id": self.step.id, "status": self.step.status}
        return {"task": task_record(self.task), "step": step}


class IsolationChanged(NamedTuple):
    """Something outside the workspace is not as it was before a run."""

    workspace: "Workspace"
    changes: "Sequence[OutsideChange]"

    @property
    def name(self) -> str:
        return "isolation.changed"

    @property
    def task_id(self) -> str:
        return self.workspace.task_id

    def record(self) -> dict[str, Any]:
        return {
            "task": {"id": self.workspace.task_id},
            "worktree": {"name": self.workspace.name, "path": self.workspace.path},
            "changes": [each.as_record() for each in self.changes],
        }


def task_record(task: "Task") -> dict[str, Any]:
    """Return a task as the journal has it.

    `state` is the word in ``task.json``, `status` the one that readers of other tools' events know.
    """
    state = task.status.value
    return {"id": task.id, "status": _STATUS_FOR_READERS.get(state, state), "state": state}


def _about(task: "Task", workspace: "Workspace") -> dict[str, Any]:
    worktree = {"name": workspace.name, "path": workspace.path}
    return {"task": task_record(task), "worktree": worktree}


class LoggedEvent(NamedTuple):
    """One line of ``events.jsonl``. `end` is the byte offset after it."""

    end: int
    fields: Mapping[str, Any]


class EventLog:
    """The events of one project."""

    def __init__(
        self,
        layout: ProjectLayout,
        clock: Clock,
        listeners: Listeners,
        *,
        redact: Callable[[Any], Any],
    ) -> None:
        self._layout = layout
        self._journal = Journal(layout.events_jsonl)
        self._clock = clock
        self._listeners = listeners
        self._redact = redact

    def emit(self, event: "Event") -> None:
        """Append one event and call the listeners. The field `ts` is in seconds since 1970."""
        now = self._clock.now()
        record = {
            "v": 1,
            "event": event.name,
            "ts": now.timestamp(),
            "at": iso(now),
            "task": {},
            "worktree": {},
            **event.record(),
        }
        self._journal.append(self._redact(record))
        self._listeners.tell(Heard(self._layout, event))

    def since(self, offset: int, *, limit: int) -> Iterator[LoggedEvent]:
        """Yield up to `limit` events from the byte offset `offset` on, which is 0 or an `end`."""
        for entry in islice(self._journal.entries(offset), limit):
            if entry.record is not None:
                yield LoggedEvent(end=entry.end, fields=entry.record)

    def newest(self, count: int | None) -> list[dict[str, Any]]:
        """Return the newest `count` events, oldest first; all of them if `count` is None.

        A damaged line becomes "unreadable".
        """
        entries = self._journal.entries() if count is None else self._journal.tail(count)
        return [
            entry.record
            if entry.record is not None
            else {"event": "unreadable", "error": entry.problem, "task": {}, "worktree": {}}
            for entry in entries
        ]
