"""Measure what each task uses on disk, and free closed tasks without losing them.

The branches of closed tasks go, too, by the rule of `branches.py`.

The workspace of a closed task is in the trash as a whole. After it was freed, the newest snapshot
and an archive of all that the snapshot lacks are left (`archives.py`); both are read back before
anything is deleted. The registry gets the intent to delete first, so that the next command can
finish a deletion that was cut off. Tasks that are open, busy or kept are never touched.

Files that rollbacks replaced are deleted where the snapshots hold them and nobody writes them. What
others wrote during a rollback has a name of its own and stays (`record/files/displaced.py`).
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from stat import S_ISDIR

from siding.ground.errors import SidingError
from siding.ground.files.durable import make_dirs
from siding.ground.git.command import output_of
from siding.ground.git.errors import GitError
from siding.ground.ids import TaskId
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.locks import FileLock, LockBusy
from siding.record.files.displaced import KEPT, keep_unrecorded, read_names, remove_if_empty
from siding.record.place.locks import holding_git, holding_task
from siding.record.place.project import Project
from siding.record.snapshots.scratch import NO_ROOM
from siding.record.snapshots.store import remove_tree
from siding.record.snapshots.store_upkeep import repack, store_size
from siding.record.tasks.registry import Workspace
from siding.record.tasks.task import TaskBusy, TaskState, WorkspaceState
from siding.record.unfinished.displaced_files import drop_displaced
from siding.record.unfinished.leftovers import find_abandoned, sweep_abandoned
from siding.record.unfinished.sandbox_commits import sweep_refused
from siding.record.workspaces.archives import (
    CannotBeArchived,
    collect,
    collect_records,
    places_in_trash,
    records_archive,
)
from siding.record.workspaces.branches import (
    BranchFate,
    fate_of,
    is_removed,
    sweep_branch,
    sweepable,
)
from siding.record.workspaces.recovery import recover_if_cut_off
from siding.record.workspaces.reserve import spending_reserve
from siding.tasks.freeing import Freed, free_snapshots, is_unfinished
from siding.tasks.recorded_tasks import CHECKOUT, displaced_places
from siding.tasks.reopen import deleted_lock, deleted_tasks
from siding.tasks.retention import Retention, plan_retention

__all__ = [
    "CHECKOUT",
    "Collected",
    "Freed",
    "HomeNotWritable",
    "Report",
    "Retention",
    "TaskUse",
    "gc",
    "plan_retention",
]


class Unmeasured(NamedTuple):
    """What could not be read, mostly a path: a size lacks it, or a part of what is in it."""

    what: str
    why: str


class Sizes:
    """Sizes on disk. ``unmeasured`` is what they lack."""

    def __init__(self) -> None:
        self.unmeasured: list[Unmeasured] = []

    def of(self, path: Path) -> int:
        """Return the bytes on disk of a file or of a whole directory; 0 if it does not exist."""
        try:
            found = os.lstat(path)
        except (FileNotFoundError, NotADirectoryError):
            return 0
        except OSError as error:
            self.lacks(os.fspath(path), error.strerror or str(error))
            return 0
        total = found.st_blocks * 512  # POSIX counts in units of 512 bytes
        waiting = [os.fspath(path)] if S_ISDIR(found.st_mode) else []
        while waiting:
            directory = waiting.pop()
            try:
                with os.scandir(directory) as entries:
                    for entry in entries:
                        total += entry.stat(follow_symlinks=False).st_blocks * 512
                        if entry.is_dir(follow_symlinks=False):
                            waiting.append(entry.path)
            except FileNotFoundError:
                continue  # deleted meanwhile
            except OSError as error:
                self.lacks(directory, error.strerror or str(error))
        return total

    def lacks(self, what: str, why: str) -> None:
        """Note what a size lacks: a path, or what else could not be measured."""
        self.unmeasured.append(Unmeasured(what, why))


class TaskUse(NamedTuple):
    """The bytes that one task takes on disk. `state` is open, closed or deleted."""

    id: TaskId
    name: str
    state: str
    workspace: int
    snapshots: int
    artifacts: int
    trash: int
    archive: int

    @property
    def total(self) -> int:
        return self.workspace + self.snapshots + self.artifacts + self.trash + self.archive


class Collected(NamedTuple):
    """The result of freeing one task.

    `way_out` is what a person can do where it was not freed because of a file in its trash: then
    it is named, and `gc` did not fail.
    """

    task: TaskUse
    freed: int  # bytes
    archive: Path | None
    failed: str | None  # the reason if it was not freed
    no_room: bool = False  # the disk had no room for the archive
    way_out: str = ""


class Report(NamedTuple):
    """The use of all tasks, the tasks chosen for freeing, and the results.

    ``swept`` are the bytes of scratch directories that dead commands had left, ``displaced`` those
    of files that rollbacks had replaced and that the snapshots hold. ``unpacked`` says
    why the packs of the snapshot store were not joined; None if they were or needed no joining.
    ``branches`` are those that were deleted; in a dry run, those that would be. ``thinned`` is what
    was freed of snapshots; None if nothing was to be. ``unmeasured`` are files and directories that
    the sizes lack, as they could not be read.
    """

    uses: tuple[TaskUse, ...]
    chosen: tuple[TaskUse, ...]
    done: tuple[Collected, ...]
    store: int  # bytes of the snapshot store as a whole
    swept: int = 0
    displaced: int = 0
    unpacked: str | None = None
    branches: tuple[BranchFate, ...] = ()
    thinned: Freed | None = None
    unmeasured: tuple[Unmeasured, ...] = ()


class HomeNotWritable(SidingError):
    """The home is on a read-only file system, or may not be written."""

    code = "not_writable"


def gc(
    project: Project,
    *,
    budget: int | None,
    dry_run: bool,
    older_s: float | None = None,
    retention: Retention | None = None,
) -> Report:
    """Free closed tasks, starting with the ones removed first.

    Stops when the trash of closed tasks is at most `budget` bytes; None frees all of them. With
    `older_s` only what was removed more than so many seconds ago is freed, and only branches of
    such workspaces are deleted. `retention` are the snapshots to free; a freeing of before that was
    cut off is finished anyway. With `dry_run` nothing is changed.
    """
    if not dry_run and not os.access(project.layout.root, os.W_OK):
        raise HomeNotWritable(
            f"nothing can be freed: {str(project.layout.root)!r} is read-only, or may not be "
            "written by you",
            hint="make it writable; `siding gc --dry-run` says what would be freed all the same",
        )
    sizes = Sizes()
    uses = _uses(project, sizes)
    chosen = _choose(project, uses, budget or 0, older_s)
    done: list[Collected] = []
    swept, unpacked, thinned = 0, None, None
    displaced = sum(sizes.of(place) for _task_id, place in displaced_places(project))
    ends = [each for each in sweepable(project) if _is_older(project, each[0], older_s)]
    branches = [fate for _workspace, fate in ends] if dry_run else []
    if not dry_run:
        swept = sum(sizes.of(path) for path in find_abandoned(project))
        sweep_abandoned(project)
        sweep_refused(project)
        displaced = free_displaced(project)
        branches = [fate for each in ends if (fate := _sweep(project, *each))]
        with spending_reserve(project):
            thinned = _thin(project, retention)  # first, while the records of all are there
            done = _collect_all(project, chosen)
            unpacked = _join_packs(project)  # last, because it needs room for a second copy of all
    return Report(
        uses=tuple(uses),
        chosen=tuple(chosen),
        done=tuple(done),
        store=store_size(project.snapshots) if project.snapshots.root.is_dir() else 0,
        swept=swept,
        displaced=displaced,
        unpacked=unpacked,
        branches=tuple(branches),
        thinned=thinned,
        unmeasured=tuple(dict.fromkeys(sizes.unmeasured)),
    )


def _thin(project: Project, retention: Retention | None) -> Freed | None:
    """Free the snapshots and patches that were planned; return what came of it, None if there was
    nothing.
    """
    if (retention is None or not (retention.dropped or retention.patches)) and not is_unfinished(
        project
    ):
        return None
    return free_snapshots(project, retention or Retention(older_s=0))


def _sweep(project: Project, workspace: Workspace, found: BranchFate) -> BranchFate | None:
    """Delete the branch of a closed task, and return it; None if it stays after all."""
    task_id = workspace.task_id
    try:
        with _locked(project, task_id):
            current = project.registry.of_task(task_id)
            if current is None or not is_removed(current) or _is_open(project, task_id):
                return None
            with holding_git(project, f"deleting the branch of task {task_id}"):
                fate = fate_of(sweep_branch(project, current))
    except SidingError as error:
        project.app.warn(f"branch {found.branch} was not deleted: {error.message}")
        return None
    return fate if fate is not None and fate.deleted else None


@contextmanager
def _locked(project: Project, task_id: TaskId) -> Iterator[None]:
    """Hold the lock of a closed task, or of one whose records were deleted."""
    if task_id in project.tasks.ids():
        with holding_task(project, task_id, "gc"):
            recover_if_cut_off(project, task_id)
            yield
        return
    with deleted_lock(project, task_id):
        yield


def _is_open(project: Project, task_id: TaskId) -> bool:
    if task_id not in project.tasks.ids():
        return False
    return project.tasks.load(task_id).status is not TaskState.CLOSED


def _collect_all(project: Project, chosen: Sequence[TaskUse]) -> list[Collected]:
    """Free the chosen tasks. Tasks whose archive found no room are tried again after the others."""
    done: dict[TaskId, Collected] = {}
    waiting = list(chosen)
    while waiting:
        tried = [_collect_one(project, use) for use in waiting]
        done |= {each.task.id: each for each in tried}
        failed = [each.task for each in tried if each.no_room]
        waiting = failed if len(failed) < len(waiting) else []
    return [done[use.id] for use in chosen]


def _join_packs(project: Project) -> str | None:
    """Join the packs of the snapshot store; return the reason if that failed, else None."""
    store = project.snapshots
    if not store.root.is_dir() or store.packs() < 2:
        return None
    try:
        make_dirs(project.layout.locks_dir)
        with FileLock(project.layout.lock("snapshots")):
            repack(store)
    except (GitError, OSError, LockBusy) as error:
        return str(error)
    return None


def _uses(project: Project, sizes: Sizes) -> list[TaskUse]:
    names = {task.id: task.name for task in project.tasks.readable()}
    closed = {task.id for task in project.tasks.readable() if task.status is TaskState.CLOSED}
    gone = {each.id: each.name for each in deleted_tasks(project)}
    found = []
    for task_id in [*names, *gone]:
        workspace = project.registry.of_task(task_id)
        archive = _archive(project, task_id, workspace)
        found.append(
            TaskUse(
                id=task_id,
                name=names.get(task_id) or gone.get(task_id) or "",
                state="deleted" if task_id in gone else "closed" if task_id in closed else "open",
                workspace=sizes.of(Path(workspace.path)) if workspace else 0,
                snapshots=_snapshot_size(project, task_id, sizes),
                artifacts=sizes.of(project.task_layout(task_id).root),
                trash=sum(sizes.of(place) for place in places_in_trash(project, task_id)),
                archive=sizes.of(archive) if archive else 0,
            )
        )
    return found


def _archive(project: Project, task_id: TaskId, workspace: Workspace | None) -> Path | None:
    if workspace is None:
        return records_archive(project, task_id)
    named = workspace.rest.get("archive")
    return project.layout.root / str(named) if named else None


def _choose(
    project: Project, uses: Sequence[TaskUse], budget: int, older_s: float | None
) -> list[TaskUse]:
    """Return the tasks to free: the first removed first, until the rest is within the budget."""
    workspaces = {workspace.task_id: workspace for workspace in project.registry.all()}
    removed = {
        use.id: (workspace.removed_at or "") if workspace else ""
        for use in uses
        if (workspace := workspaces.get(use.id)) is None
        or (workspace.status is WorkspaceState.REMOVED and workspace.trash)
    }
    able = [
        use
        for use in uses
        if use.state != "open"
        and use.id in removed
        and use.trash
        and _is_older(project, workspaces.get(use.id), older_s)
    ]
    able.sort(key=lambda use: (removed[use.id], use.id))
    left = sum(use.trash for use in able)
    chosen = []
    for use in able:
        if left <= budget:
            break
        chosen.append(use)
        left -= use.trash
    return chosen


def _is_older(project: Project, workspace: Workspace | None, older_s: float | None) -> bool:
    """Return whether a workspace was removed more than `older_s` seconds ago.

    One of which it is not known when it was removed is not older than anything.
    """
    if older_s is None:
        return True
    try:
        at = datetime.fromisoformat((workspace and workspace.removed_at) or "")
        return (project.app.clock.now() - at).total_seconds() > older_s
    except (ValueError, TypeError):  # TypeError: the time was written without its offset
        return False


def _collect_one(project: Project, use: TaskUse) -> Collected:
    try:
        archive = _locked_collect(project, use)
    except CannotBeArchived as error:
        return Collected(use, freed=0, archive=None, failed=error.message, way_out=error.hint or "")
    except (TaskBusy, SidingError, OSError) as error:
        no_room = isinstance(error, OSError) and error.errno in NO_ROOM
        return Collected(use, freed=0, archive=None, failed=str(error), no_room=no_room)
    if archive is None:
        return Collected(task=use, freed=0, archive=None, failed="it was reopened meanwhile")
    return Collected(
        task=use, freed=max(0, use.trash - Sizes().of(archive)), archive=archive, failed=None
    )


def _locked_collect(project: Project, use: TaskUse) -> Path | None:
    """Free one task under its lock and return its archive; None if there is nothing to free."""
    if use.state == "deleted":
        with deleted_lock(project, use.id):
            if use.id in project.tasks.ids():
                return None
            return _checked_collect(project, use.id)
    with holding_task(project, use.id, "gc"):
        recover_if_cut_off(project, use.id)
        if project.tasks.load(use.id).status is not TaskState.CLOSED:
            return None
        return _checked_collect(project, use.id)


def _checked_collect(project: Project, task_id: TaskId) -> Path | None:
    workspace = project.registry.of_task(task_id)
    if not places_in_trash(project, task_id):
        return None
    if workspace is None:
        return collect_records(project, task_id)
    if workspace.status is not WorkspaceState.REMOVED or workspace.trash is None:
        return None
    return project.layout.root / str(collect(project, workspace).rest["archive"])


def _snapshot_size(project: Project, task_id: TaskId, sizes: Sizes) -> int:
    """Return the bytes of the objects that the task's snapshots need in addition to its base."""
    store = project.snapshots
    tip = store.tip(task_id) if store.root.is_dir() else None
    if tip is None:
        return 0
    # What was freed is missing.
    asked = ["rev-list", "--objects", "--disk-usage", "--missing=allow-any"]
    asked += [tip, "--not", store.base(task_id)]
    done = store.git.attempt(store.place(), asked)
    try:
        return int(output_of(done, doing="measuring snapshots"))
    except GitError as error:
        sizes.lacks(f"the snapshots of task {task_id}", error.message)
        return 0


def free_displaced(project: Project) -> int:
    """Delete what the snapshots hold; return its bytes. Tasks that are busy are passed over."""
    freed = 0
    for task_id, place in list(displaced_places(project)):
        try:
            with holding_task(project, task_id, "gc"):
                freed += _drop_displaced(project, place)
        except (TaskBusy, LockBusy):
            continue
        except (SidingError, OSError) as error:
            project.app.warn(f"{place} stays as it is: {error}")
    return freed


def _drop_displaced(project: Project, place: Path) -> int:
    if not place.is_dir():
        return 0
    if not read_names(place) and not (place / KEPT).exists():
        remove_tree(place)  # it was cut off before the list, and so before anything was displaced
        return 0
    freed = drop_displaced(project, place)
    # Since the act ended, a program may have gone on writing into a file that it had open.
    keep_unrecorded(place, project.snapshots.repository.object_format)
    remove_if_empty(place)
    return freed
