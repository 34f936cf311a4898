"""Bring in a board: its tasks, and its worktrees, which are adopted where they are."""

import os
from collections.abc import Iterator
from pathlib import Path

from siding.ground.errors import SidingError
from siding.ground.ids import TaskId
from siding.importing.board_records import BoardTask, BoardWorktree
from siding.importing.source import WORKTREES, Source
from siding.importing.tasks import (
    Fate,
    Item,
    NewTask,
    Provenance,
    imported_tasks,
    new_ids,
    save_new,
)
from siding.record.place.project import Project
from siding.record.tasks.task import TaskState, WorkspaceState
from siding.tasks import close
from siding.tasks.adopt_worktree import AdoptRequest, adopt_worktree

FORM = "board"
PLANNED = TaskId("")  # stands for the id of a task that a dry run does not make


class BoardImport:
    """The import of one board. `project` is None for a dry run where there is no project yet."""

    def __init__(
        self, project: Project | None, source: Source, place: str, *, dry_run: bool
    ) -> None:
        self._project = project
        self._source = source
        self._place = place
        self._dry_run = dry_run or project is None
        self._ids: dict[str, TaskId] = {}
        self._new: set[str] = set()
        self.problems: list[str] = []

    def items(self) -> Iterator[Item]:
        """Bring everything in, and yield what became of it."""
        yield from self._tasks()
        for worktree in self._source.board.worktrees:
            yield self._worktree(worktree)

    def _tasks(self) -> Iterator[Item]:
        tasks = self._source.board.tasks
        known = {} if self._project is None else imported_tasks(self._project)
        new = [each for each in tasks if self._provenance(each) not in known]
        self._ids = {each.id: known.get(self._provenance(each), PLANNED) for each in tasks}
        self._new = {each.id for each in new}
        if self._project is not None and not self._dry_run:
            fresh = new_ids(self._project, len(new))
            self._ids |= {each.id: task_id for each, task_id in zip(new, fresh, strict=True)}
        for task in tasks:
            if task.id not in self._new:
                yield Item("task", task.name, Fate.THERE, self._ids[task.id])
                continue
            if self._project is not None and not self._dry_run:
                blockers = tuple(self._ids[each] for each in task.blocked_by)
                save_new(self._project, self._ids[task.id], self._described(task), blockers)
            yield Item("task", task.name, Fate.NEW, self._ids[task.id], f"{task.status.value}")

    def _provenance(self, task: BoardTask) -> Provenance:
        return Provenance(FORM, self._place, task.id)

    def _described(self, task: BoardTask) -> NewTask:
        written = {"subject": task.subject} if task.subject != task.name else {}
        bound = {"worktree": task.worktree} if task.worktree else {}
        rest = {"fields": dict(task.rest)} if task.rest else {}
        gone = [
            {"name": each.name, "path": each.path, "branch": each.branch}
            for each in self._source.board.worktrees
            if each.task_id == task.id and each.status is WorkspaceState.REMOVED
        ]
        removed = {"removed_worktrees": gone} if gone else {}
        # A task whose worktree is adopted is closed after that: a closed one gets no workspace.
        waits = task.status is TaskState.CLOSED and self._worktree_to_come(task)
        return NewTask(
            provenance=self._provenance(task),
            name=task.name,
            status=TaskState.ACTIVE if waits else task.status,
            description=task.description,
            owner=task.owner,
            created_at=task.created_at,
            updated_at=task.updated_at,
            rest={**written, **bound, **rest, **removed},
        )

    def _worktree_to_come(self, task: BoardTask) -> bool:
        return any(
            each.status is not WorkspaceState.REMOVED
            and self._task_of(each) is task
            and self._directory(each) is not None
            for each in self._source.board.worktrees
        )

    def _task_of(self, worktree: BoardWorktree) -> BoardTask | None:
        """Return the task that a worktree belongs to: as the index says, else as the tasks say."""
        tasks = self._source.board.tasks
        if worktree.task_id:
            return next((each for each in tasks if each.id == worktree.task_id), None)
        bound = (each for each in tasks if each.worktree == worktree.name)
        return next(bound, None)

    def _directory(self, worktree: BoardWorktree) -> Path | None:
        """Return where a worktree is: as written, or where the board keeps it; None if gone."""
        usual = self._source.root / WORKTREES / worktree.name
        written = self._source.root / worktree.path if worktree.path else usual
        return next((each for each in (written, usual) if each.is_dir()), None)

    def _worktree(self, worktree: BoardWorktree) -> Item:
        name = worktree.name
        if worktree.status is WorkspaceState.REMOVED:
            return Item("worktree", name, Fate.LEFT, note="it was removed")
        path = self._directory(worktree)
        if path is None:
            return Item("worktree", name, Fate.LEFT, note="its directory is gone")
        project = self._project
        if project is not None:
            entry = project.registry.around(os.path.realpath(path))
            if entry is not None and entry.path == os.path.realpath(path):
                return Item("worktree", name, Fate.THERE, entry.task_id)
        if project is None or self._dry_run:
            return Item("worktree", name, Fate.NEW, note=str(path))
        try:
            return Item("worktree", name, Fate.NEW, self._adopt(project, worktree, path), str(path))
        except (SidingError, OSError) as error:
            reason = error.message if isinstance(error, SidingError) else str(error)
            self.problems.append(f"worktree {name}: {reason}")
            return Item("worktree", name, Fate.LEFT, note="it could not be adopted")
        finally:
            self._close_if_done(project, worktree)

    def _adopt(self, project: Project, worktree: BoardWorktree, path: Path) -> TaskId:
        owner = self._task_of(worktree)
        task_id = None if owner is None else self._ids[owner.id]
        name = None if owner is not None else worktree.name
        # The board says where work has begun, also in a task that waits for another one there.
        request = AdoptRequest(path, task_id, name, switch=False, force=True)
        adopted = adopt_worktree(project, request)
        if worktree.status is WorkspaceState.KEPT:
            close.keep_workspace(project, adopted.task)
        return adopted.task.id

    def _close_if_done(self, project: Project, worktree: BoardWorktree) -> None:
        """Close a task that the board calls completed, now that its worktree was dealt with."""
        owner = self._task_of(worktree)
        if owner is None or owner.id not in self._new or owner.status is not TaskState.CLOSED:
            return
        task = project.tasks.load(self._ids[owner.id])
        if task.status is not TaskState.CLOSED:
            close.close_task(project, task, fate=close.Fate.USUAL, force=False)
