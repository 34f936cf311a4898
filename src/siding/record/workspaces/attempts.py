"""The events of an attempt: one before the act begins, and one after it ended or failed.

An attempt that is refused never begins. It has only the last event, ``….failed``, with the reason
as ``error`` and ``refused: true``.
"""

from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

from siding.ground.errors import SidingError
from siding.ground.ids import TaskId
from siding.record.place.events import AttemptFailed, WorkspaceChanged
from siding.record.place.named_task import require_of_board
from siding.record.place.project import Project
from siding.record.place.selection import select
from siding.record.tasks.registry import Workspace
from siding.record.tasks.task import Task
from siding.record.workspaces.branches import fate_of


class Attempt:
    """An act on a task or its workspace, from the moment in which somebody asks for it.

    Use it as a context manager around everything that may refuse or fail. `act` is the first part
    of the names of its events, such as ``worktree.remove``. `worktree` are the fields that are
    known of the workspace; `task` is None as long as it is not known which task it is about.
    """

    def __init__(
        self,
        project: Project,
        act: str,
        task: Task | None = None,
        worktree: Mapping[str, Any] | None = None,
    ) -> None:
        self._project = project
        self._act = act
        self._task = task
        self._worktree = worktree or {}
        self._begun = False
        self._over = False

    def about(self, task: Task, worktree: Mapping[str, Any] | None = None) -> None:
        """Say which task and which workspace it is about, once that is known."""
        self._task = task
        if worktree is not None:
            self._worktree = worktree

    def begin(self, task_id: TaskId, worktree: Mapping[str, Any]) -> None:
        """Emit the event ``….before``: nothing refused, and something is about to change."""
        self._worktree = worktree
        how = f"{self._act.removeprefix('worktree.')}.before"
        self._project.events.emit(WorkspaceChanged(task_id, how, worktree))
        self._begun = True

    def end(self, task_id: TaskId, worktree: Mapping[str, Any], task: Task | None) -> None:
        """Emit the event ``….after``: it is done. What fails from now on is another act.

        `task` is the task as it is now; None if its document cannot be read.
        """
        self._over = True
        how = f"{self._act.removeprefix('worktree.')}.after"
        self._project.events.emit(WorkspaceChanged(task_id, how, worktree, task=task))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is None or self._over:
            return
        if not self._begun and not isinstance(error, SidingError):
            return  # a refusal is a SidingError; Ctrl-C and a full disk are none
        failed = AttemptFailed(
            task=self._task,
            act=self._act,
            worktree=self._worktree,
            error=str(error) or type(error).__name__,
            refused=not self._begun,
        )
        try:
            self._project.events.emit(failed)
        except (SidingError, OSError):
            return  # a full disk must not hide why the act failed


def select_for(project: Project, act: str, named: str | None) -> Task:
    """Return the task that an act is about, as `select` does.

    If there is none, that is an attempt that was refused.
    """
    with Attempt(project, act, worktree={"name": named} if named else {}):
        return require_of_board(select(project, named), "what you asked for")


def naming(workspace: Workspace | None) -> dict[str, Any]:
    """Return the fields by which events name a workspace that does not change yet."""
    return {} if workspace is None else {"name": workspace.name, "path": workspace.path}


def payload_of(workspace: Workspace) -> dict[str, Any]:
    """Return the fields by which events name a workspace that was changed."""
    fate = fate_of(workspace)
    return {
        "name": workspace.name,
        "path": workspace.path,
        "branch": workspace.branch,
        "status": workspace.status.value,
        **({} if fate is None else {"branch_deleted": fate.deleted}),
    }
