"""Bring in what other task tools keep in a repository: a board of tasks, the folder ``.aide``.

Nothing of the source is changed. Every file that was read is kept, byte for byte, in ``imports/``
of the project, with the fields and events that have no place elsewhere. The same import again finds
everything there and changes nothing. Worktrees of a board are adopted where they are.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from siding.asking.decisions.record import Decision
from siding.asking.decisions.store import DecisionStore
from siding.asking.origin import holding_decisions
from siding.ground.errors import SidingError, counted
from siding.ground.files.durable import create_bytes, make_dirs
from siding.ground.files.regular import read_bytes
from siding.ground.git.discovery import find_repository
from siding.ground.git.errors import NotARepository
from siding.ground.hashing import sha256_hex
from siding.ground.ids import TaskId
from siding.importing.aide_records import AideTask
from siding.importing.board_records import BoardTask, BoardWorktree
from siding.importing.source import WORKTREES, Source, read_source
from siding.importing.tasks import (
    Fate,
    ImportReport,
    Item,
    NewTask,
    Provenance,
    imported_tasks,
    new_ids,
    save_new,
)
from siding.record.phases.store import FlowStatus, PhaseStore
from siding.record.place.project import Project
from siding.record.tasks.task import TaskState, WorkspaceState
from siding.record.unfinished.phases import phase_lock
from siding.tasks import close
from siding.tasks.adopt_worktree import AdoptRequest, adopt_worktree

IMPORTS = "imports"
__all__ = ["Fate", "ImportReport", "Item", "import_records", "read_source"]
BOARD_FORM = "board"
PLANNED = TaskId("")  # stands for the id of a task that a dry run does not make
AIDE_FORM = "aide"


def import_records(project: Project | None, source: Source, *, dry_run: bool) -> ImportReport:
    """Bring in what the source has that is not there yet; with `dry_run` only say what that is.

    What cannot be brought in is named in the report, and the rest is brought in.
    """
    place = _place_of(project, source.root)
    board = BoardImport(project, source, place, dry_run=dry_run)
    items = list(board.items())
    items += bring_in_aide(project, source, place, dry_run=dry_run)
    kept = _keep_files(project, source, place, dry_run=dry_run)
    if source.board.events:
        fate = Fate.NEW if f"{WORKTREES}/events.jsonl" in kept else Fate.THERE
        items.append(
            Item("events", counted(source.board.events, "event"), fate, note="kept as they are")
        )
    return ImportReport(tuple(items), (*source.problems, *board.problems))


def _place_of(project: Project | None, root: Path) -> str:
    """Return the name of a source.

    Inside the repository it is the path in the worktree: the repository can be moved, and a board
    that is tracked is the same one in every worktree.
    """
    real = Path(os.path.realpath(root))
    try:
        around = find_repository(real)
    except NotARepository:
        return str(real)
    if project is None or around.common_dir != project.paths.common_dir:
        return str(real)
    if around.worktree is None:
        return str(real)
    return real.relative_to(around.worktree).as_posix()


def _keep_files(
    project: Project | None, source: Source, place: str, *, dry_run: bool
) -> frozenset[str]:
    """Copy the files into the project; return the names of those that were not there as they are.

    A file that changed since the last import is kept beside the copy of before.
    """
    if project is None:
        return frozenset(source.files)
    directory = project.layout.root / IMPORTS / sha256_hex(os.fsencode(place))[:12]
    new = set()
    for name, raw in source.files.items():
        usual = directory / name
        changed = usual.with_name(f"{usual.name}.{sha256_hex(raw)[:12]}")
        if any(_has(path, raw) for path in (usual, changed)):
            continue
        new.add(name)
        if not dry_run:
            make_dirs(usual.parent)
            create_bytes(changed if os.path.lexists(usual) else usual, raw)
    return frozenset(new)


def _has(path: Path, raw: bytes) -> bool:
    try:
        return read_bytes(path) == raw
    except FileNotFoundError:
        return False


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
        return Provenance(BOARD_FORM, self._place, task.id)

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


def bring_in_aide(
    project: Project | None, source: Source, place: str, *, dry_run: bool
) -> Iterator[Item]:
    """Bring everything in, and yield what became of it. Without a project nothing is there yet."""
    yield from _aide_decisions(project, source, dry_run=dry_run)
    known = {} if project is None else imported_tasks(project)
    for task in source.aide.tasks:
        provenance = Provenance(AIDE_FORM, place, task.status.task_id)
        yield _aide_task(project, task, provenance, known.get(provenance), dry_run=dry_run)


def _aide_decisions(project: Project | None, source: Source, *, dry_run: bool) -> Iterator[Item]:
    for decision in source.aide.decisions:
        name = decision.request.task
        state = decision.state.value
        if project is None:
            yield Item("decision", name, Fate.NEW, note=state)
            continue
        session_id, was_there = _bring_in_decision(project, decision, dry_run=dry_run)
        yield Item("decision", name, Fate.THERE if was_there else Fate.NEW, session_id, state)


def _bring_in_decision(project: Project, decision: Decision, *, dry_run: bool) -> tuple[str, bool]:
    store = DecisionStore(project.layout.decisions_dir)
    if dry_run:
        return store.bring_in(decision, dry_run=True)
    with holding_decisions(project, "importing a decision"):
        return store.bring_in(decision)


def _aide_task(
    project: Project | None,
    task: AideTask,
    provenance: Provenance,
    known: TaskId | None,
    *,
    dry_run: bool,
) -> Item:
    if project is not None and known is not None:
        found = _again(project, task, known, dry_run=dry_run)
        if found is not None:
            return found
    note = _standing(task.status)
    if project is None or dry_run:
        return Item("phases", task.name, Fate.NEW, known or "", note)
    task_id = known
    if task_id is None:
        (task_id,) = new_ids(project, 1)
        save_new(project, task_id, _aide_task_described(task, provenance))
    PhaseStore(project.task_layout(task_id).root).bring_in(task.status._replace(task=task_id))
    return Item("phases", task.name, Fate.NEW, task_id, note)


def _again(project: Project, task: AideTask, known: TaskId, *, dry_run: bool) -> Item | None:
    """Return what becomes of a task that was imported before; None if its phases never came: the
    import was cut off after it made the task."""
    store = PhaseStore(project.task_layout(known).root)
    here = store.load()
    if here is None:
        return Item("phases", task.name, Fate.THERE, known) if store.earlier_ids() else None
    theirs = task.status._replace(task=known)
    if here.task_id != theirs.task_id or not _went_on(here, theirs):
        both = here.task_id == theirs.task_id and not _went_on(theirs, here)
        fate = Fate.LEFT if both else Fate.THERE
        also = "it went on here and there; as it is here: " if both else ""
        return Item("phases", task.name, fate, known, also + _standing(here))
    there = project.tasks.load(known)
    ends = there.status is TaskState.ACTIVE and not task.is_current and not there.workspace_path
    if here == theirs and not ends:
        return Item("phases", task.name, Fate.THERE, known, _standing(here))
    if not dry_run:
        with phase_lock(project, there, "importing its phases"):
            if store.load() == here:
                store.bring_in(theirs)
        if ends:  # it was finished there, and nothing was done with it here
            close.close_task(project, there, fate=close.Fate.USUAL, force=False)
    return Item("phases", task.name, Fate.MOVED_ON, known, _standing(theirs))


def _went_on(before: FlowStatus, after: FlowStatus) -> bool:
    """Return whether `after` is the same pass, at the same point or later."""
    return after.history[: len(before.history)] == before.history


def _standing(status: FlowStatus) -> str:
    return f"phase {status.current_phase}, step {status.current_step}"


def _aide_task_described(task: AideTask, provenance: Provenance) -> NewTask:
    status = task.status
    last = status.history[-1].timestamp
    return NewTask(
        provenance=provenance,
        name=task.name,
        status=TaskState.ACTIVE if task.is_current else TaskState.CLOSED,
        description=status.history[0].summary,
        created_at=status.started_at,
        updated_at=last,
    )
