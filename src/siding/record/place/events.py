"""The events of a project, as values. Acts emit them, and listeners receive them.

`record` is what the journal keeps for other programs (``events.jsonl``; `event_log.py`). Listeners
in the same process get the value itself, with the step or the decision that it is about. Events of
steps are in `event_log.py`: nearly every command that writes needs those, and few need others.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from siding.ground.namedtuples import NamedTuple
from siding.record.place.event_log import task_record

if TYPE_CHECKING:
    from siding.record.tasks.task import Task


class TaskChanged(NamedTuple):
    """A task was made, changed, closed, reopened or deleted. `how` is the second part of `name`."""

    task: "Task"
    how: str  # created, updated, completed, reopened, deleted

    @property
    def name(self) -> str:
        return f"task.{self.how}"

    @property
    def task_id(self) -> str:
        return self.task.id

    def record(self) -> dict[str, Any]:
        task: dict[str, Any] = {"id": self.task.id}
        if self.how != "deleted":
            task = task_record(self.task)
        if self.how in ("completed", "reopened", "deleted"):
            task["subject"] = self.task.name
        if self.how in ("completed", "reopened"):
            return {"task": task, "worktree": {"name": self.task.worktree}}
        return {"task": task}


class WorkspaceChanged(NamedTuple):
    """An act on a workspace began, ended or failed.

    `worktree` are the fields that are recorded; they depend on the act. `task` is the task as it is
    then, None if the act does not know it.
    """

    task_id: str
    how: str  # create.before, create.after, create.failed, remove.…, restore.after, keep, collected
    worktree: Mapping[str, Any] = {}
    task: "Task | None" = None
    error: str | None = None
    recovered: bool = False

    @property
    def name(self) -> str:
        return f"worktree.{self.how}"

    def record(self) -> dict[str, Any]:
        task = {"id": self.task_id} if self.task is None else task_record(self.task)
        told = {} if self.error is None else {"error": self.error}
        recovered = {"recovered": True} if self.recovered else {}
        return {
            "task": task,
            "worktree": dict(self.worktree),
            **told,
            **recovered,
        }


class AttemptFailed(NamedTuple):
    """An act on a task or its workspace failed, or was refused before anything changed.

    `task` is None if no task has the name that was given.
    """

    task: "Task | None"
    act: str  # worktree.create, worktree.remove, task.update, …
    worktree: Mapping[str, Any]
    error: str
    refused: bool

    @property
    def name(self) -> str:
        return f"{self.act}.failed"

    @property
    def task_id(self) -> str:
        return "" if self.task is None else self.task.id

    def record(self) -> dict[str, Any]:
        return {
            "task": {} if self.task is None else task_record(self.task),
            "worktree": dict(self.worktree),
            "error": self.error,
            **({"refused": True} if self.refused else {}),
        }


class PolicyBlocked(NamedTuple):
    """The policy blocked a command."""

    task_id: str
    rules: Sequence[str]

    @property
    def name(self) -> str:
        return "policy.blocked"

    def record(self) -> dict[str, Any]:
        return {"task": {"id": self.task_id}, "rules": list(self.rules)}


class PhaseMoved(NamedTuple):
    """A task moved to another phase, or to another step of its phase."""

    task: "Task"
    how: str  # the move
    phase: str
    step: int
    commit: str

    @property
    def name(self) -> str:
        return f"phase.{self.how}"

    @property
    def task_id(self) -> str:
        return self.task.id

    def record(self) -> dict[str, Any]:
        return {
            "task": task_record(self.task),
            "phase": self.phase,
            "step": self.step,
            "commit": self.commit,
        }


class GateTried(NamedTuple):
    """A gate of a phase was checked. `gate` has its kind, its text and the result."""

    task: "Task"
    phase: str
    gate: Mapping[str, Any]

    @property
    def name(self) -> str:
        return "phase.gate"

    @property
    def task_id(self) -> str:
        return self.task.id

    def record(self) -> dict[str, Any]:
        return {"task": task_record(self.task), "phase": self.phase, "gate": dict(self.gate)}


class PullRequestChanged(NamedTuple):
    """A pull request was opened, or its branch was pushed again."""

    task: "Task"
    how: str  # opened, pushed
    pull_request: Mapping[str, Any]

    @property
    def name(self) -> str:
        return f"pull_request.{self.how}"

    @property
    def task_id(self) -> str:
        return self.task.id

    def record(self) -> dict[str, Any]:
        return {"task": task_record(self.task), "pull_request": dict(self.pull_request)}


class WorkflowChanged(NamedTuple):
    """A run of a workflow began, was resumed, waits for a person, or has ended."""

    task_id: str
    how: str  # started, resumed, waiting, completed, failed, killed
    run_id: str
    workflow: str
    error: str = ""

    @property
    def name(self) -> str:
        return f"workflow.{self.how}"

    def record(self) -> dict[str, Any]:
        told = {"error": self.error} if self.error else {}
        return {
            "task": {"id": self.task_id} if self.task_id else {},
            "workflow": {"run_id": self.run_id, "name": self.workflow},
            **told,
        }


class GcEnded(NamedTuple):
    """`siding gc` has ended. `freed` is what it did; `error` says why it failed, "" if it did not.

    `background` tells whether the host of a run started it.
    """

    freed: Mapping[str, Any]
    background: bool = False
    error: str = ""

    @property
    def name(self) -> str:
        return "gc.failed" if self.error else "gc.ended"

    @property
    def task_id(self) -> str:
        return ""

    def record(self) -> dict[str, Any]:
        told = {"error": self.error} if self.error else {}
        return {"gc": {**self.freed, "background": self.background}, **told}
