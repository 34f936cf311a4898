"""Look at what was recorded: status, log, one step, the difference between steps."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from siding.app.old_home import workspace_of
from siding.app.project import Project
from siding.app.recording import diff_stat_record
from siding.app.selection import select
from siding.app.snapshots import TaskSnapshots, patch_lines
from siding.errors import NotFound, SidingError, UsageError
from siding.git.patches import DiffStat
from siding.git.paths import quote_path
from siding.ids import step_number
from siding.ledger.running import Running, read_running
from siding.ledger.step import Step, step_from
from siding.process.output_files import Output, Span, read_output
from siding.storage.locks import FileLock, Holder
from siding.tasks.registry import Workspace
from siding.tasks.states import WorkspaceState
from siding.tasks.task import Task

__all__ = [
    "Difference", "InProgress", "Output", "Span", "Status", "Step", "difference", "events",
    "in_progress", "log", "output", "running_step", "shown_changes", "snapshots_of", "status",
    "step", "steps",
]  # fmt: skip


class InProgress(NamedTuple):
    """A step that has begun and is not in the ledger."""

    running: Running
    holder: Holder | None  # None: its writer is gone, and the step will be recorded as interrupted


class Status(NamedTuple):
    """Where a task stands."""

    task: Task
    workspace: Workspace | None
    present: bool  # the workspace's directory is there
    steps: int
    last: Step | None
    in_progress: InProgress | None
    unrecorded: int | None  # files changed since the last step; None when nobody looked
    holder: Holder | None


def status(project: Project, named: str | None) -> Status:
    """Return where a task stands; nothing is written."""
    task = select(project, named)
    workspace = workspace_of(project, task)
    present = (
        workspace is not None
        and workspace.status in (WorkspaceState.ACTIVE, WorkspaceState.KEPT)
        and Path(workspace.path).is_dir()
    )
    last = project.ledger(task.id).last()
    lock = FileLock(project.task_layout(task.id).lock)
    holder = lock.holder() if lock.is_locked() else None
    unrecorded = None
    if present and workspace is not None and workspace.base_snapshot:
        unrecorded = TaskSnapshots(project, workspace).changed_count()
    return Status(
        task=task,
        workspace=workspace,
        present=present,
        steps=last.number if last else 0,
        last=last,
        in_progress=in_progress(project, task),
        unrecorded=unrecorded,
        holder=holder,
    )


def in_progress(project: Project, task: Task) -> InProgress | None:
    """Return the step that has begun and is not recorded yet."""
    layout = project.task_layout(task.id)
    running = read_running(layout.running_json)
    if running is None:
        return None
    lock = FileLock(layout.lock)
    return InProgress(running=running, holder=lock.holder() if lock.is_locked() else None)


def log(project: Project, named: str | None, *, limit: int | None) -> tuple[Task, list[Step]]:
    """Return a task and its newest steps, oldest first; all of them when `limit` is None."""
    task = select(project, named)
    ledger = project.ledger(task.id)
    return task, list(ledger.steps()) if limit is None else ledger.tail(limit)


def step(project: Project, named: str | None, wanted: str) -> tuple[Task, Step]:
    """Return one step, named by its number or ``last``; raise NotFound."""
    task = select(project, named)
    ledger = project.ledger(task.id)
    if wanted == "last":
        found = ledger.last()
    else:
        found = ledger.find(_number(wanted))
    if found is None:
        raise NotFound(
            f"task {task.name!r} has no step {wanted!r}", hint="`siding log` shows the steps"
        )
    return task, found


def output(project: Project, task: Task, found: Step) -> Output | None:
    """Return the output of a step, or None when it left none."""
    told = found.record.get("output")
    counts = told if isinstance(told, dict) else {}
    path = project.task_layout(task.id).artifact(found.number, "output")
    try:
        return read_output(path, counts.get("stdout_bytes"), counts.get("stderr_bytes"))
    except FileNotFoundError:
        return None


class ShownChange(NamedTuple):
    """One changed file as a person reads it."""

    status: str
    name: str
    binary: bool
    additions: int
    deletions: int


def shown_changes(stat: DiffStat) -> list[ShownChange]:
    """Return the changed files of a difference, with names a person can read."""
    return [
        ShownChange(
            status=each.status,
            name=quote_path(each.path)
            if each.old_path is None
            else f"{quote_path(each.old_path)} -> {quote_path(each.path)}",
            binary=each.additions is None,
            additions=each.additions or 0,
            deletions=each.deletions or 0,
        )
        for each in stat.per_file
    ]


class Difference(NamedTuple):
    """Two snapshots to compare, and how to call them."""

    task: Task
    before: str
    after: str
    title: str
    snapshots: TaskSnapshots

    def stat(self, paths: tuple[bytes, ...] = ()) -> DiffStat:
        """Return what differs, file by file."""
        return self.snapshots.diff_stat(self.before, self.after, paths)

    def stat_record(self, paths: tuple[bytes, ...] = ()) -> dict[str, Any]:
        """Return what differs as the ledger would hold it."""
        return diff_stat_record(self.stat(paths))

    def write_patch(self, fd: int, paths: tuple[bytes, ...] = ()) -> None:
        """Write the patch into a file descriptor, byte for byte."""
        self.snapshots.write_patch(self.before, self.after, fd, paths)

    def patch_lines(self, paths: tuple[bytes, ...] = ()) -> Iterator[str]:
        """Yield the patch line by line as text; bytes that are none are spelled out."""
        for line in patch_lines(self.snapshots, self.before, self.after, paths):
            yield line.decode("utf-8", "backslashreplace")


@contextmanager
def difference(
    project: Project, named: str | None, *, at: str | None, start: str | None, end: str | None
) -> Iterator[Difference]:
    """Yield what to compare: a step (`at`), a range, or the whole task up to now.

    `start` and `end` are step numbers, ``base``, ``last`` or ``now``.
    """
    task = select(project, named)
    workspace = workspace_of(project, task)
    if workspace is None:
        raise SidingError(f"task {task.name!r} never had a workspace, so nothing was changed")
    if not workspace.base_snapshot:
        raise SidingError(
            f"nothing of task {task.name!r} was recorded yet",
            hint="`siding checkpoint` records it as it stands",
        )
    snapshots = TaskSnapshots(project, workspace)
    if at is not None:
        if start or end:
            raise UsageError("--step names one step; --from and --to name a range")
        _task, one = step(project, task.id, at)
        if one.parent is None or one.snapshot is None:
            raise NotFound(f"step {one.id} has no snapshots to compare")
        yield Difference(task, one.parent, one.snapshot, f"step {one.id}", snapshots)
        return
    title = f"{start or 'base'}..{end or 'now'}"
    before = _recorded(project, task, workspace, start or "base")
    if end in (None, "now"):
        with snapshots.peek() as (tree, view):
            yield Difference(task, before, tree, title, view)
        return
    yield Difference(task, before, _recorded(project, task, workspace, end), title, snapshots)


def _recorded(project: Project, task: Task, workspace: Workspace, name: str) -> str:
    """Return the snapshot that a point stands for."""
    if name in ("base", "0"):
        return workspace.base_snapshot
    if name == "now":
        raise UsageError("`now` can only be the end of a range", hint="--from base --to now")
    _task, found = step(project, task.id, name)
    if found.snapshot is None:
        raise NotFound(f"step {found.id} has no snapshot")
    return found.snapshot


def events(project: Project, count: int) -> list[dict[str, Any]]:
    """Return the newest lifecycle events, oldest first."""
    return project.events.newest(count)


def steps(project: Project, task: Task) -> Iterator[Step]:
    """Yield every step of a task."""
    return project.ledger(task.id).steps()


def snapshots_of(project: Project, task: Task) -> TaskSnapshots | None:
    """Return the snapshots of a task, or None when it never had a workspace."""
    workspace = workspace_of(project, task)
    return None if workspace is None else TaskSnapshots(project, workspace)


def running_step(project: Project, named: str | None, wanted: str) -> tuple[Task, Step] | None:
    """Return the step in progress, when that is the one that is wanted."""
    task = select(project, named)
    found = in_progress(project, task)
    if found is None:
        return None
    if wanted != "last" and _number(wanted) != found.running.number:
        return None
    state = "running" if found.holder is not None else "cut off"
    record = {
        "step_id": f"{found.running.number:04d}",
        "kind": found.running.kind,
        "status": state,
        "started_at": found.running.started_at,
        "parent": found.running.parent,
        **found.running.record,
    }
    return task, step_from(record)


def _number(text: str) -> int:
    try:
        return step_number(text)
    except ValueError:
        raise UsageError(
            f"{text!r} is not a step", hint="give a number such as 3 or 0003, or `last`"
        ) from None
