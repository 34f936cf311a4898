"""The moves between the states of tasks and workspaces, as tables. No I/O, no clock.

There are two state machines, connected only by the task's id: a task can be planned before it has a
workspace, and a workspace can be kept or removed before it is decided what becomes of the work.

    task        pending --start--> active --close--> closed --reopen--> active
    workspace   absent --create--> active --keep--> kept --resume--> active
                                   active|kept --remove--> removed --restore--> active
"""

from collections.abc import Collection, Mapping
from enum import StrEnum

from siding.ground.errors import IllegalTransition
from siding.record.tasks.task import TaskState, WorkspaceState


class TaskMove(StrEnum):
    """The moves of a task."""

    START = "start"
    CLOSE = "close"
    REOPEN = "reopen"


class WorkspaceMove(StrEnum):
    """The moves of a workspace."""

    CREATE = "create"
    KEEP = "keep"
    RESUME = "resume"
    REMOVE = "remove"
    RESTORE = "restore"


TASK_MOVES: Mapping[TaskState, Mapping[TaskMove, TaskState]] = {
    TaskState.PENDING: {
        TaskMove.START: TaskState.ACTIVE,
        TaskMove.CLOSE: TaskState.CLOSED,
    },
    TaskState.ACTIVE: {
        TaskMove.CLOSE: TaskState.CLOSED,
    },
    TaskState.CLOSED: {
        TaskMove.REOPEN: TaskState.ACTIVE,
    },
}


WORKSPACE_MOVES: Mapping[WorkspaceState, Mapping[WorkspaceMove, WorkspaceState]] = {
    WorkspaceState.ABSENT: {
        WorkspaceMove.CREATE: WorkspaceState.ACTIVE,
    },
    WorkspaceState.ACTIVE: {
        WorkspaceMove.KEEP: WorkspaceState.KEPT,
        WorkspaceMove.REMOVE: WorkspaceState.REMOVED,
    },
    WorkspaceState.KEPT: {
        WorkspaceMove.RESUME: WorkspaceState.ACTIVE,
        WorkspaceMove.REMOVE: WorkspaceState.REMOVED,
    },
    WorkspaceState.REMOVED: {
        WorkspaceMove.RESTORE: WorkspaceState.ACTIVE,
        WorkspaceMove.CREATE: WorkspaceState.ACTIVE,
    },
}


# What a person reads: what cannot be done, and the command that makes a move.
_DONE: Mapping[StrEnum, str] = {
    TaskMove.START: "started",
    TaskMove.CLOSE: "closed",
    TaskMove.REOPEN: "reopened",
    WorkspaceMove.CREATE: "made",
    WorkspaceMove.KEEP: "kept",
    WorkspaceMove.RESUME: "worked in again",
    WorkspaceMove.REMOVE: "removed",
    WorkspaceMove.RESTORE: "brought back",
}
_VERBS: Mapping[StrEnum, str] = {
    TaskMove.START: "worktree add",
    TaskMove.CLOSE: "task close",
    TaskMove.REOPEN: "task reopen",
    WorkspaceMove.CREATE: "worktree add",
    WorkspaceMove.KEEP: "worktree keep",
    WorkspaceMove.RESUME: "task reopen",
    WorkspaceMove.REMOVE: "worktree remove",
    WorkspaceMove.RESTORE: "task reopen",
}


def move_task(state: TaskState, move: TaskMove) -> TaskState:
    """Return the state after `move`; raise IllegalTransition when the table has none."""
    after = TASK_MOVES[state].get(move)
    if after is None:
        raise IllegalTransition(
            f"a task that is {state.value} cannot be {_DONE[move]}",
            hint=_possible(TASK_MOVES[state]),
        )
    return after


def move_workspace(state: WorkspaceState, move: WorkspaceMove) -> WorkspaceState:
    """Return the state after `move`; raise IllegalTransition when the table has none."""
    after = WORKSPACE_MOVES[state].get(move)
    if after is None:
        raise IllegalTransition(
            f"a workspace that is {state.value} cannot be {_DONE[move]}",
            hint=_possible(WORKSPACE_MOVES[state]),
        )
    return after


def _possible(moves: Collection[StrEnum]) -> str:
    # A removed workspace is brought back; only a fork's or a bound one is made anew.
    first = [move for move in moves if move is not WorkspaceMove.CREATE] or moves
    return f"possible now: {', '.join(f'`siding {_VERBS[move]}`' for move in first)}"
