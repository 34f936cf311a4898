"""The whole registry file: what it lacks, what is damaged in it, and changes of it.

A damaged or missing file is read from `Elsewhere`; the next change writes it again."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from siding.ground.files.durable import copy_aside
from siding.ground.ids import TaskId, is_fork
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.documents import DamagedFile, write_document
from siding.record.tasks.registry import REGISTRY_VERSION, Elsewhere, Workspace, Workspaces


class Registry(Workspaces):
    """The whole registry document. The caller must hold the project's lock to write.

    `say` is called with a sentence when the file had to be made again.
    """

    def __init__(
        self, path: Path, *, elsewhere: Callable[[], Elsewhere], say: Callable[[str], None]
    ) -> None:
        super().__init__(path, elsewhere=elsewhere)
        self._say = say

    def all(self) -> list[Workspace]:
        """Return every entry, in the order of the file; entries that it lacks come last."""
        return self._look().all

    def problem(self) -> str | None:
        """Return a sentence about what is wrong with the file, None if nothing is."""
        return self._problem(self._look())

    def mend(self) -> None:
        """Write the whole registry again if something is wrong with the file."""
        found = self._look()
        if self._problem(found) is not None:
            self._write(found, found.all)

    def cut_off(self) -> list[Workspace]:
        """Return the entries with an unfinished act."""
        return [each for each in self.all() if each.intent] if self.may_be_cut_off() else []

    def named(self, name: str) -> Workspace | None:
        """Return the newest workspace with this name, branch or task id; None if there is none."""
        matches = [
            each for each in self.all() if name in (each.name, each.branch, str(each.task_id))
        ]
        return matches[-1] if matches else None

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

    def _look(self) -> "_Found":
        """Read the file, and get the entries that it lacks from `Elsewhere`."""
        there, damage = self._in_file()
        lost = self._elsewhere().all({each.task_id for each in there})
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


def _entry_of(workspace: Workspace) -> dict[str, Any]:
    entry: dict[str, Any] = workspace._asdict()
    rest = entry.pop("rest")
    entry["status"] = workspace.status.value
    optional = ("kept_at", "removed_at", "intent", "trash", "adopted")
    return {
        **{key: value for key, value in entry.items() if key not in optional or value},
        **rest,
    }
