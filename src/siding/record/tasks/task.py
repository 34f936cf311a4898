"""A task, and its document ``task.json``. Unknown fields are kept and written back.

`moves.py` says which state follows which.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from siding.ground.errors import SidingError
from siding.ground.ids import Sha, TaskId
from siding.ground.namedtuples import NamedTuple

TASK_VERSION = 1
# Fields of task.json. An undo reopened the task, and a redo can close it again.
REOPENED = "reopened"
# The number of the last step before the task was closed: what came later is undone first.
CLOSED_AFTER = "closed_after"


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


class Task(NamedTuple):
    """One task. Times are ISO 8601 with an offset."""

    # The id, the name, the base and the branch are bound by the anchor of the ledger
    # (`TaskIdentity` in `record/ledger/anchor.py`). Whoever changes the base or the branch
    # announces it first (`record/recording/anchoring.py`), or `siding verify` reports it. The id
    # and the name never change.
    id: TaskId
    name: str
    repo_root: str
    base_ref: str  # the branch, tag or commit that the person named as the base
    base_commit: Sha  # the commit it was then; it never changes. "" in homes of older tools
    branch: str  # "" while there is no workspace
    workspace_path: str  # relative to the home; "" while there is no workspace
    status: TaskState
    created_at: str
    updated_at: str
    closed_at: str | None
    owner: str
    blocked_by: tuple[str, ...]
    worktree: str  # the name in the workspace registry; "" when unbound
    metadata: Mapping[str, Any]  # description, tags, and what other programs add
    start: Mapping[str, Any]  # the start card; {} before there is a workspace
    rest: Mapping[str, Any]  # fields of other releases, written back as they are

    @property
    def description(self) -> str:
        value = self.metadata.get("description", "")
        return value if isinstance(value, str) else ""

    @property
    def tags(self) -> tuple[str, ...]:
        value = self.metadata.get("tags", [])
        return tuple(str(tag) for tag in value) if isinstance(value, list) else ()


def task_from(document: Mapping[str, Any]) -> Task:
    """Return the task in `document`; a missing optional field gets its empty value.

    Raises TypeError or ValueError when a field has the wrong type.
    """
    known = dict(document)
    known.pop("version", None)
    take = known.pop
    return Task(
        id=TaskId(_text(take("id"))),
        name=_text(take("name")),
        repo_root=_text(take("repo_root", "")),
        base_ref=_text(take("base_ref", "")),
        base_commit=Sha(_text(take("base_commit", ""))),
        branch=_text(take("branch", "")),
        workspace_path=_text(take("workspace_path", "")),
        status=TaskState(_text(take("status"))),
        created_at=_text(take("created_at", "")),
        updated_at=_text(take("updated_at", "")),
        closed_at=take("closed_at", None) or None,
        owner=_text(take("owner", "")),
        blocked_by=tuple(_text(each) for each in take("blocked_by", None) or ()),
        worktree=_text(take("worktree", "")),
        metadata=take("metadata", None) or {},
        start=take("start", None) or {},
        rest=known,
    )


def document_of(task: Task) -> dict[str, Any]:
    """Return the JSON document of the task; `task_from` reads it back."""
    return {
        "version": TASK_VERSION,
        "id": task.id,
        "name": task.name,
        "repo_root": task.repo_root,
        "base_ref": task.base_ref,
        "base_commit": task.base_commit,
        "branch": task.branch,
        "workspace_path": task.workspace_path,
        "status": task.status.value,
        "created_at": task.created_at,
        "updated_at": task.updated_at,
        "closed_at": task.closed_at,
        "owner": task.owner,
        "blocked_by": list(task.blocked_by),
        "worktree": task.worktree,
        "metadata": dict(task.metadata),
        "start": dict(task.start),
        **task.rest,
    }


def _text(value: object) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise TypeError(f"expected text, found {value!r}")
    return value


class TaskBusy(SidingError):
    """Another command holds the lock of this task, or a run lives in it."""

    code = "task_busy"
