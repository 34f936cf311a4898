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

from siding.ground.files.durable import copy_aside
from siding.ground.files.regular import read_bytes
from siding.ground.ids import Sha, TaskId, is_fork
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.documents import DamagedFile, read_document_or_none, write_document
from siding.ground.storage.layout import ProjectLayout
from siding.record.tasks.states import WorkspaceState

REGISTRY_VERSION = 1
# A field of an entry, and of the document of its task: the task that has the workspace now.
MOVED_TO = "moved_to"
# A field of an entry: the number of the last step without snapshots, after their store was lost.
SNAPSHOTS_LOST = "snapshots_lost"
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


class _Nowhere:
    def all(self, known: Collection[str]) -> list[Workspace]:
        del known
        return []

    def of_task(self, task_id: TaskId) -> Workspace | None:
        del task_id
        return None


def _say_nothing(sentence: str) -> None:
    del sentence


class Registry:
    """The registry document. The caller must hold the project's lock to write.

    `say` is called with a sentence when the file had to be made again.
    """

    def __init__(
        self,
        path: Path,
        *,
        elsewhere: Elsewhere | None = None,
        say: Callable[[str], None] = _say_nothing,
    ) -> None:
        self._path = path
        self._layout = ProjectLayout(path.parent)
        self._elsewhere = elsewhere or _Nowhere()
        self._say = say

    def all(self) -> list[Workspace]:
        """Return every entry, in the order of the file; entries that it lacks come last."""
        return self._look().all

    def problem(self) -> str | None:
        """Return a sentence about what is wrong with the file, None if nothing is."""
        return self._problem(self._look())

    def lacks(self, task_id: TaskId) -> bool:
        """Return whether the file has no readable entry of this task."""
        return not is_fork(task_id) and self._entered(task_id) is None

    def mend(self) -> None:
        """Write the whole registry again if something is wrong with the file."""
        found = self._look()
        if self._problem(found) is not None:
            self._write(found, found.all)

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
        if is_fork(task_id):
            return self._of_fork(task_id)
        return self._entered(task_id) or self._elsewhere.of_task(task_id)

    def states(self) -> dict[str, str]:
        """Return the state of each task's workspace, by the task's id."""
        known = {
            str(entry.get("task_id")): str(entry.get("status"))
            for entry in self._entries()[0]
            if isinstance(entry, dict) and entry.get("status") in _STATES
        }
        lost = {str(each.task_id): each.status.value for each in self._elsewhere.all(known)}
        return {**known, **lost}

    def named(self, name: str) -> Workspace | None:
        """Return the newest workspace with this name, branch or task id; None if there is none."""
        matches = [
            each for each in self.all() if name in (each.name, each.branch, str(each.task_id))
        ]
        return matches[-1] if matches else None

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

    def put(self, *workspaces: Workspace) -> None:
        """Store the workspaces in one write; each replaces the entry of its task."""
        for each in workspaces:
            if is_fork(each.task_id):
                document = {"version": REGISTRY_VERSION, **_entry_of(each)}
                write_document(self._layout.task(each.task_id).workspace_json, document)
        workspaces = tuple(each for each in workspaces if not is_fork(each.task_id))
        if not workspaces:
            return
        found = self._look()
        stored = {each.task_id for each in workspaces}
        others = [each for each in found.all if each.task_id not in stored]
        self._write(found, [*others, *workspaces])

    def forget(self, task_id: TaskId) -> None:
        """Remove the entry of a task."""
        found = self._look()
        self._write(found, [each for each in found.all if each.task_id != task_id])

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

    def _look(self) -> "_Found":
        """Read the file, and get the entries that it lacks from `Elsewhere`."""
        there, damage = self._in_file()
        lost = self._elsewhere.all({each.task_id for each in there})
        return _Found(there=there, lost=lost, damage=damage)

    def _in_file(self) -> tuple[list[Workspace], DamagedFile | None]:
        """Return the readable entries of the file, and the first damage found."""
        entries, damage = self._entries()
        there = []
        for entry in entries:
            found = self._read(entry)
            if isinstance(found, Workspace):
                there.append(found)
            else:
                damage = damage or found
        return there, damage

    def _problem(self, found: "_Found") -> str | None:
        if found.damage is not None:
            return f"the registry of workspaces is damaged: {found.damage.reason}"
        if not found.lost:
            return None
        ids = ", ".join(sorted(each.task_id for each in found.lost))
        if self._path.exists():
            return f"the registry of workspaces lacks the workspace of task {ids}"
        return f"the registry of workspaces is missing; there were workspaces of task {ids}"

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

    def _write(self, found: "_Found", workspaces: list[Workspace]) -> None:
        """Replace the file. A damaged one is copied first, so that its bytes cannot be lost."""
        problem = self._problem(found)
        if found.damage is not None:
            problem = f"{problem}; the file is kept as {copy_aside(self._path, 'damaged').name}"
        entries = [_entry_of(each) for each in workspaces]
        write_document(self._path, {"version": REGISTRY_VERSION, "worktrees": entries})
        if problem is not None:
            self._say(f"{problem}. It was made again from the tasks, the disk and the trash")


class _Found(NamedTuple):
    """The entries in the file, those it lacks, and the damage in it."""

    there: list[Workspace]
    lost: list[Workspace]
    damage: DamagedFile | None

    @property
    def all(self) -> list[Workspace]:
        return [*self.there, *self.lost]


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


def _entry_of(workspace: Workspace) -> dict[str, Any]:
    entry: dict[str, Any] = workspace._asdict()
    rest = entry.pop("rest")
    entry["status"] = workspace.status.value
    optional = ("kept_at", "removed_at", "intent", "trash", "adopted")
    return {
        **{key: value for key, value in entry.items() if key not in optional or value},
        **rest,
    }
