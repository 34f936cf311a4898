"""The workspace registry: ``worktrees.json``, who works where.

The shape is the s12 ``index.json`` (name, path, branch, task_id, status, created_at, kept_at,
removed_at), plus what it takes to survive a crash and a swapped directory: the base commit, the
directory's identity, and the intent of an unfinished act. Unknown fields are kept.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from siding.ids import Sha, TaskId
from siding.storage.documents import DamagedFile, read_document_or_none, write_document
from siding.storage.files import read_bytes
from siding.tasks.states import WorkspaceState

REGISTRY_VERSION = 1


class Workspace(NamedTuple):
    """One line of the registry. Times are ISO 8601 with an offset, or None."""

    name: str
    path: str  # absolute
    branch: str
    task_id: TaskId
    status: WorkspaceState
    created_at: str
    kept_at: str | None = None
    removed_at: str | None = None
    base_commit: Sha = Sha("")
    base_snapshot: Sha = Sha("")  # the workspace as it was made: the state before the first step
    git_dir: str = ""  # git's record of the worktree, in the repository
    device: int = 0  # with inode: the directory's identity when it was made; 0 is unknown
    inode: int = 0
    intent: Mapping[str, Any] | None = None  # an act that began and is not known to have ended
    trash: str | None = None  # where a removed workspace was moved to, relative to the project
    rest: Mapping[str, Any] = {}


class Registry:
    """The registry document. The caller holds the project's lock for `put`."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def all(self) -> list[Workspace]:
        """Return every entry, oldest first."""
        return [self._read(entry) for entry in self._entries()]

    def cut_off(self) -> list[Workspace]:
        """Return the entries with an unfinished act; the file is only parsed if there may be any.

        Every command asks, and a registry of a thousand tasks takes milliseconds to parse.
        """
        try:
            raw = read_bytes(self._path)
        except FileNotFoundError:
            return []
        return [each for each in self.all() if each.intent] if b'"intent"' in raw else []

    def of_task(self, task_id: TaskId) -> Workspace | None:
        """Return the newest workspace of a task; only its own entry is looked at closely."""
        for entry in reversed(self._entries()):
            if isinstance(entry, dict) and entry.get("task_id") == task_id:
                return self._read(entry)
        return None

    def states(self) -> dict[str, str]:
        """Return the state of each task's workspace, by the task's id."""
        return {
            str(entry.get("task_id")): str(entry.get("status"))
            for entry in self._entries()
            if isinstance(entry, dict)
        }

    def named(self, name: str) -> Workspace | None:
        """Return the newest workspace with this name, branch or task id."""
        wanted = [
            each for each in self.all() if name in (each.name, each.branch, str(each.task_id))
        ]
        return wanted[-1] if wanted else None

    def put(self, workspace: Workspace) -> None:
        """Add the entry, or replace the one of the same task."""
        others = [each for each in self.all() if each.task_id != workspace.task_id]
        self._write([*others, workspace])

    def forget(self, task_id: TaskId) -> None:
        """Drop the entry of a task."""
        self._write([each for each in self.all() if each.task_id != task_id])

    def _entries(self) -> list[Any]:
        document = read_document_or_none(
            self._path, what="workspace registry", version=REGISTRY_VERSION
        )
        if document is None:
            return []
        entries = document.get("worktrees")
        if not isinstance(entries, list):
            raise DamagedFile(self._path, "`worktrees` is not a list")
        return entries

    def _read(self, entry: Any) -> Workspace:
        try:
            return _workspace_from(entry)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise DamagedFile(self._path, f"an entry cannot be read: {error!r}") from error

    def _write(self, workspaces: list[Workspace]) -> None:
        entries = [_entry_of(each) for each in workspaces]
        write_document(self._path, {"version": REGISTRY_VERSION, "worktrees": entries})


def _workspace_from(entry: Mapping[str, Any]) -> Workspace:
    known = dict(entry)
    take = known.pop
    return Workspace(
        name=str(take("name")),
        path=str(take("path")),
        branch=str(take("branch", "")),
        task_id=TaskId(str(take("task_id"))),
        status=WorkspaceState(take("status")),
        created_at=str(take("created_at", "")),
        kept_at=take("kept_at", None),
        removed_at=take("removed_at", None),
        base_commit=Sha(str(take("base_commit", ""))),
        base_snapshot=Sha(str(take("base_snapshot", ""))),
        git_dir=str(take("git_dir", "")),
        device=int(take("device", 0)),
        inode=int(take("inode", 0)),
        intent=take("intent", None),
        trash=take("trash", None),
        rest=known,
    )


def _entry_of(workspace: Workspace) -> dict[str, Any]:
    entry: dict[str, Any] = workspace._asdict()
    rest = entry.pop("rest")
    entry["status"] = workspace.status.value
    optional = ("kept_at", "removed_at", "intent", "trash")
    return {
        **{key: value for key, value in entry.items() if key not in optional or value is not None},
        **rest,
    }
