"""The states of tasks and workspaces; `moves` says which follows which."""

from enum import StrEnum


class TaskState(StrEnum):
    """Whether work on a task has begun and ended."""

    PENDING = "pending"
    ACTIVE = "active"
    CLOSED = "closed"


class WorkspaceState(StrEnum):
    """Whether a task has a workspace. `KEPT`: a person recorded that it is to stay."""

    ABSENT = "absent"
    ACTIVE = "active"
    KEPT = "kept"
    REMOVED = "removed"
