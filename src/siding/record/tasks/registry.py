"""The registry of workspaces, ``worktrees.json``: the workspace of each task.

A task of a group (`is_fork`) has its entry in a file of its own, ``workspace.json`` in its
directory: there may be a thousand, which come and go without a lock of the project. `all`, `states`
and `cut_off` are about the tasks of the board, and leave these out.

If the file is lost or damaged, or lacks an entry, readers get the missing entries from `Elsewhere`
(the tasks, the disk and the trash). Reading writes nothing. The next change writes the whole
registry again; a damaged file is copied aside first, byte for byte. Unknown fields are kept.
"""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, Protocol

from siding.ground.files.regular import read_bytes
from siding.ground.ids import Sha, TaskId, is_fork
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.documents import read_document_or_none
from siding.ground.storage.errors import DamagedFile
from siding.ground.storage.layout import ProjectLayout
from siding.record.tasks.task import WorkspaceState

REGISTRY_VERSION = 1
# A field of an entry, and of the document of its task: the task that has the workspace now.
MOVED_TO = "moved_to"
# A field of an entry: the branch was made here for this task, in a worktree that was adopted.
BRANCH_MADE = "branch_made"
# A field of an entry: the number of the last step without snapshots, after their store was lost.
SNAPSHOTS_LOST = "snapshots_lost"
REBUILT = "rebuilt"  # a field of an entry that was reconstructed
_STATES = frozenset(state.value for state in WorkspaceState)
_PRESENT = (WorkspaceState.ACTIVE.value, WorkspaceState.KEPT.value)


class Workspace(NamedTuple):
    """One entry of the registry. Times are ISO 8601 with an offset, or None."""

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
    git_dir: str = ""  # the worktree's directory in the repository's `.git/worktrees`
    device: int = 0  # with inode: the directory's numbers when they were last seen; a hint
    inode: int = 0
    intent: Mapping[str, Any] | None = None  # an act under way, or one that was cut off
    trash: str | None = None  # where a removed workspace was moved to, relative to the project
    adopted: bool = False  # a worktree that somebody else made; it stays where they made it
    rest: Mapping[str, Any] = {}

    @property
    def lost_until(self) -> int:
        """The number of the last step whose snapshots are known to be lost; 0 for none."""
        number = self.rest.get(SNAPSHOTS_LOST)
        return number if isinstance(number, int) else 0


class Elsewhere(Protocol):
    """Finds from other records the entries that the registry should have."""

    def all(self, known: Collection[str]) -> list[Workspace]:
        """Return the workspaces of all tasks except those with an id in `known`."""
        ...

    def of_task(self, task_id: TaskId) -> Workspace | None:
        """Return the workspace of one task, None if it never had one."""
        ...


class Workspaces:
    """Reads single entries of the registry; changes are made by `registry_file.Registry`."""

    def __init__(self, path: Path, *, elsewhere: Callable[[], Elsewhere]) -> None:
        self._path = path
        self._layout = ProjectLayout(path.parent)
        self._elsewhere = elsewhere

    def of_task(self, task_id: TaskId) -> Workspace | None:
        """Return the newest workspace of a task; only its own entry is looked at closely."""
        if is_fork(task_id):
            return self._of_fork(task_id)
        return self._entered(task_id) or self._elsewhere().of_task(task_id)

    def lacks(self, task_id: TaskId) -> bool:
        """Return whether the file has no readable entry of this task."""
        return not is_fork(task_id) and self._entered(task_id) is None

    def may_be_cut_off(self) -> bool:
        """Return whether an entry may have an unfinished act; the file is not parsed.

        Every command asks, and a registry of a thousand tasks takes milliseconds to parse.
        """
        try:
            return b'"intent"' in read_bytes(self._path)
        except FileNotFoundError:
            return False

    def states(self) -> dict[str, str]:
        """Return the state of each task's workspace, by the task's id."""
        known = {
            str(entry.get("task_id")): str(entry.get("status"))
            for entry in self._entries()[0]
            if isinstance(entry, dict) and entry.get("status") in _STATES
        }
        for lost in self._elsewhere().all(known):
            known[str(lost.task_id)] = lost.status.value
        return known

    def entered(self) -> dict[TaskId, Workspace]:
        """Return the newest workspace of each task, as far as the file has a readable entry."""
        found: dict[TaskId, Workspace] = {}
        for entry in self._entries()[0]:
            read = self._read(entry)
            if isinstance(read, Workspace):
                found[read.task_id] = read
        return found

    def around(self, place: str) -> Workspace | None:
        """Return the active or kept workspace that is this directory or holds it; None if none is.

        `place` and the paths of the registry are compared as they are written. Only entries of the
        file are looked at.
        """
        entries = [each for each in self._entries()[0] if isinstance(each, dict)]
        matches = [
            entry
            for entry in entries
            if entry.get("status") in _PRESENT and _holds(str(entry.get("path") or ""), place)
        ]
        for entry in sorted(matches, key=lambda each: len(str(each["path"])), reverse=True):
            found = self._read(entry)
            if isinstance(found, Workspace):
                return found
        return None

    def _of_fork(self, task_id: TaskId) -> Workspace | None:
        path = self._layout.task(task_id).workspace_json
        try:
            document = read_document_or_none(
                path, what="workspace of a fork", version=REGISTRY_VERSION
            )
        except DamagedFile:
            return None  # its worktree is in the pool's books, and is thrown away
        found = None if document is None else self._read(document)
        return found if isinstance(found, Workspace) else None

    def _entered(self, task_id: TaskId) -> Workspace | None:
        for entry in reversed(self._entries()[0]):
            if isinstance(entry, dict) and entry.get("task_id") == task_id:
                found = self._read(entry)
                if isinstance(found, Workspace):
                    return found
        return None

    def _entries(self) -> tuple[list[Any], DamagedFile | None]:
        """Return the raw entries of the file; [] and the damage if it cannot be parsed.

        Raises NewerVersion for a file that a newer release wrote: that one is not damaged.
        """
        try:
            document = read_document_or_none(
                self._path, what="workspace registry", version=REGISTRY_VERSION
            )
        except DamagedFile as damage:
            return [], damage
        if document is None:
            return [], None
        entries = document.get("worktrees")
        if not isinstance(entries, list):
            return [], DamagedFile(self._path, "`worktrees` is not a list")
        return entries, None

    def _read(self, entry: Any) -> Workspace | DamagedFile:
        try:
            return _workspace_from(entry)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            return DamagedFile(self._path, f"an entry cannot be read: {error!r}")


def _holds(path: str, place: str) -> bool:
    return bool(path) and (place == path or place.startswith(path.rstrip("/") + "/"))


def _workspace_from(entry: Mapping[str, Any]) -> Workspace:
    known = dict(entry)
    known.pop("version", None)
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
        adopted=take("adopted", False) is True,
        rest=known,
    )
