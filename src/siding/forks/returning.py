"""Give the workspace of a fork back: to the pool if it can serve again, else to the trash.

Whoever worked in the worktree could write into its git directory. A name that is not known, a
branch that is checked out, a merge under way, links that lead elsewhere: then the worktree is not
used again.
"""

import os
from pathlib import Path

from siding.forks.parentage import Parentage
from siding.forks.pool import at_once, put_back, throw_away
from siding.ground.files.regular import read_small
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.locks import Holder
from siding.record.files.aside import move_out
from siding.record.files.index_entries import ignored_now
from siding.record.place.locks import holding_task
from siding.record.place.project import Project
from siding.record.place.trash import fresh_trash
from siding.record.recording.opening import open_recorder
from siding.record.recording.recorder import Recorder
from siding.record.snapshots.git_details import details_of
from siding.record.snapshots.git_state import recorded_state
from siding.record.tasks.moves import TaskMove, move_task
from siding.record.tasks.registry import Workspace
from siding.record.tasks.slots import Slot, SlotBooks
from siding.record.tasks.task import Task, TaskBusy, TaskState, WorkspaceState
from siding.record.unfinished.left_running import in_the_way
from siding.record.workspaces.recovery import recover_if_cut_off
from siding.record.worktrees.listing import git_dir_of


class Dropped(NamedTuple):
    """A fork without its workspace. `differs`: its last state is not the one that it began with,
    nor one that was brought back; a step has it. `reused`: the worktree waits for the next fork.
    `moved_to`: where in the trash its ignored files are, and the workspace if it is not reused."""

    task: Task
    differs: bool
    reused: bool
    moved_to: tuple[Path, ...] = ()


def give_up(project: Project, task: Task) -> Dropped:
    """Record what is in the fork's workspace, close its task, and give the workspace back.

    Raises TaskBusy if a run lives in it, or left something running.
    """
    with holding_task(project, task.id, f"dropping {task.id}") as hold:
        recover_if_cut_off(project, task.id)
        task = project.tasks.load(task.id)
        workspace = project.registry.of_task(task.id)
        if workspace is None or workspace.status is WorkspaceState.REMOVED:
            return Dropped(closed(project, task), differs=False, reused=False)
        for left in in_the_way(project, task.id):
            named = ", ".join(each.named for each in left.processes)
            raise TaskBusy(
                f"{task.id} is busy: run {left.run.id} has ended, and left running: {named}",
                hint=f"`siding stop {left.run.id} -t {task.id}` ends that",
            )
        recorder = open_recorder(project, task, hold)
        recorder.settle()
        name = str(workspace.rest.get("slot") or "")
        lock = SlotBooks(project.layout.forks).lock(name)
        holder = Holder(pid=project.app.pid, since=project.app.now(), what=f"dropping {task.id}")
        lock.acquire(timeout_s=None, holder=holder)
        try:
            slot = _serving_again(project, recorder, name)
            aside = None if slot is None else _move_ignored_out(project, recorder)
            # From here on the fork does not have it: a sweep throws away what is not put back.
            project.registry.put(
                workspace._replace(status=WorkspaceState.REMOVED, removed_at=project.app.now())
            )
            task = closed(project, task)
            if slot is None:
                thrown = throw_away(project, SlotBooks(project.layout.forks), name)
            else:
                thrown = put_back(project, slot, task.id, keep=at_once(project))
        finally:
            lock.release()
        reused = slot is not None and thrown is None
        moved_to = tuple(each for each in (aside, thrown) if each is not None)
        return Dropped(task, _differs(task, recorder), reused, moved_to)


def closed(project: Project, task: Task) -> Task:
    """Return the task as it is once it is closed."""
    if task.status is TaskState.CLOSED:
        return task
    now = project.app.now()
    done = task._replace(
        status=move_task(task.status, TaskMove.CLOSE), closed_at=now, updated_at=now
    )
    project.tasks.save(done)
    return done


def _differs(task: Task, recorder: Recorder) -> bool:
    parentage = Parentage.of(task)
    known = () if parentage is None else (parentage.base, parentage.applied)
    return recorder.seen.snapshot not in known


def _serving_again(project: Project, recorder: Recorder, name: str) -> Slot | None:
    """Return the worktree in the state that was recorded last; None if it cannot serve again."""
    workspace, seen = recorder.workspace, recorder.seen
    books = SlotBooks(project.layout.forks)
    slot = books.is_used(name)
    if slot is None or slot.owner != workspace.task_id or not _can_serve(project, workspace):
        return None
    report = seen.coverage
    lacks = report.special_count or report.linked_count or report.sparse or report.notes
    if lacks or not report.complete or seen.modes is None or seen.modes.bare is None:
        return None
    state = recorded_state(project.snapshots, workspace.task_id, workspace.branch, seen.snapshot)
    details = details_of(project.snapshots, state)
    if state.head is None or state.branch is not None or details.files:
        return None
    forget_leftovers(Path(workspace.git_dir))
    parentage = Parentage.of(recorder.task)
    unchanged = parentage is not None and seen.snapshot == parentage.base
    # So that the next fork of the same state finds it at once.
    at = parentage.snapshot if parentage is not None and unchanged else seen.snapshot
    return slot._replace(snapshot=Sha(at), head=state.head, details=state.details or "")


def _can_serve(project: Project, workspace: Workspace) -> bool:
    place = GitDir(
        path=Path(workspace.path),
        git_dir=Path(workspace.git_dir),
        common=project.paths.common_dir,
    )
    return is_clean(place)


def _move_ignored_out(project: Project, recorder: Recorder) -> Path | None:
    """Move ignored files into the trash: the next fork begins without them. Return their place."""
    if not recorder.seen.coverage.ignored_count:
        return None
    root, task_id = recorder.snapshots.root, recorder.task.id
    paths = ignored_now(project.snapshots, task_id, root)
    if not paths:
        return None
    aside = project.layout.root / fresh_trash(project.app, task_id) / "aside"
    move_out(root, paths, aside)
    return aside


_KNOWN = frozenset({"HEAD", "index", "commondir", "gitdir"})
# Left by commits, resets and fetches; the snapshots have what they name.
_LEFT = ("ORIG_HEAD", "COMMIT_EDITMSG", "FETCH_HEAD", "logs/HEAD")
_DIRECTORIES = {"logs": {"HEAD"}, "refs": set()}


class GitDir(NamedTuple):
    """The git directory of a worktree at `path`, of the repository at `common`."""

    path: Path
    git_dir: Path
    common: Path


def is_clean(place: GitDir) -> bool:
    """Tell whether there is nothing in it but what git needs, or leaves behind after commits."""
    git_dir = place.git_dir
    try:
        names = set(os.listdir(git_dir)) - _KNOWN - set(_LEFT)
        if not names <= _DIRECTORIES.keys():
            return False
        for name in names:
            directory = git_dir / name
            if directory.is_symlink() or not set(os.listdir(directory)) <= _DIRECTORIES[name]:
                return False
        common = read_small(git_dir / "commondir", 8192) or b""
        pointer = read_small(git_dir / "gitdir", 8192) or b""
    except OSError:
        return False
    there = os.path.normpath(git_dir / os.fsdecode(common.strip()))
    named = Path(os.path.normpath(git_dir / os.fsdecode(pointer.strip(b"\r\n"))))
    return (
        os.path.realpath(there) == os.path.realpath(place.common)
        and os.path.realpath(named.parent) == os.path.realpath(place.path)
        and git_dir_of(place.path) == Path(os.path.realpath(git_dir))
    )


def forget_leftovers(git_dir: Path) -> None:
    """Remove what commits have left: the log of HEAD would keep them alive for the next fork."""
    for name in _LEFT:
        (git_dir / name).unlink(missing_ok=True)
