"""What happens to steps, as values. See `events.py`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from siding.ground.ids import step_id
from siding.ground.namedtuples import NamedTuple

if TYPE_CHECKING:
    from siding.record.ledger.intents import Intent
    from siding.record.ledger.reports import OutsideChange
    from siding.record.ledger.step import Step
    from siding.record.tasks.registry import Workspace
    from siding.record.tasks.task import Task


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


# Other tools of this kind have these words for the states of a task, and readers wait for them.
_STATUS_FOR_READERS = {"active": "in_progress", "closed": "completed"}


def task_record(task: "Task") -> dict[str, Any]:
    """Return a task as the journal has it.

    `state` is the word in ``task.json``, `status` the one that readers of other tools' events know.
    """
    state = task.status.value
    return {"id": task.id, "status": _STATUS_FOR_READERS.get(state, state), "state": state}


def _about(task: "Task", workspace: "Workspace") -> dict[str, Any]:
    worktree = {"name": workspace.name, "path": workspace.path}
    return {"task": task_record(task), "worktree": worktree}
