"""A task: what is to be done. The fields of ``task.json``.

The shape is the bar tool's (id ... metadata), plus owner, blocked_by and worktree from the s12
task board, plus what we need to know for certain: the base as a commit id, and the start card.
Fields this version does not know are kept and written back.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from siding.ids import Sha, TaskId
from siding.tasks.states import TaskState

TASK_VERSION = 1


class Task(NamedTuple):
    """One task. Times are ISO 8601 with an offset."""

    id: TaskId
    name: str
    repo_root: str
    base_ref: str  # what the person named: a branch, a tag, a commit
    base_commit: Sha  # what it meant at that moment; the base never moves. "" in old homes
    branch: str  # "" while there is no workspace
    workspace_path: str  # relative to the home; "" while there is no workspace
    status: TaskState
    created_at: str
    updated_at: str
    closed_at: str | None
    owner: str
    blocked_by: tuple[str, ...]
    worktree: str  # the name in the workspace registry; "" when unbound
    metadata: Mapping[str, Any]  # description, tags, and whatever the user adds
    start: Mapping[str, Any]  # the start card; {} before there is a workspace
    rest: Mapping[str, Any]  # fields of other versions, kept

    @property
    def description(self) -> str:
        value = self.metadata.get("description", "")
        return value if isinstance(value, str) else ""

    @property
    def tags(self) -> tuple[str, ...]:
        value = self.metadata.get("tags", [])
        return tuple(str(tag) for tag in value) if isinstance(value, list) else ()


def task_from(document: Mapping[str, Any]) -> Task:
    """Return the task in `document`. Missing optional fields get their empty value."""
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
    """Return what `task_from` reads back as the same task."""
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
