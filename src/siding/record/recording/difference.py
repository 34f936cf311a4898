"""Compare two states of a task: the base, the state after a step, or the workspace as it is now."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from siding.ground.errors import NotFound, SidingError, UsageError
from siding.ground.git.paths import is_selected, quote_path
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.record.place.project import Project
from siding.record.place.selection import select
from siding.record.place.task_workspace import workspace_of
from siding.record.recording.line_base import line_base, no_base
from siding.record.recording.named_paths import named_paths, refuse_unknown
from siding.record.recording.snapshots import TaskSnapshots
from siding.record.snapshots.mode_changes import ModeChange
from siding.record.snapshots.modes import Modes
from siding.record.snapshots.patches import DiffStat
from siding.record.tasks.registry import Workspace
from siding.record.tasks.task import Task, WorkspaceState

if TYPE_CHECKING:
    from siding.record.recording.recorded_patches import RecordedPatch

__all__ = [
    "Difference",
    "KeptState",
    "ShownChange",
    "difference",
    "shown_changes",
    "shown_modes",
]


class ShownChange(NamedTuple):
    """One changed file, for display."""

    status: str
    name: str
    binary: bool
    additions: int
    deletions: int


def shown_changes(stat: DiffStat) -> list[ShownChange]:
    """Return the changed files of a difference, with quoted names."""
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


def shown_modes(changes: list[ModeChange]) -> list[str]:
    """Return changed permissions as texts such as ``run.sh (0644 to 0755)``."""
    return [f"{quote_path(c.path)} ({c.before:04o} to {c.after:04o})" for c in changes]


def _shown_link(path: bytes, group: tuple[bytes, ...]) -> str:
    others = ", ".join(quote_path(each) for each in group if each != path)
    return f"{quote_path(path)} ({'with ' + others if others else 'alone'})"


class KeptState(NamedTuple):
    """A state that is no step's: a snapshot's commit, and the directory of its objects, if the
    store does not have them.
    """

    snapshot: str
    objects: Path | None
    title: str


class Difference(NamedTuple):
    """Two snapshots to compare, and a title for the difference."""

    task: Task
    before: str
    after: str
    title: str
    snapshots: TaskSnapshots
    project: Project
    workspace: Workspace
    modes: Modes | None = None  # the permissions of `after`, if `after` is not a snapshot

    def paths(self, names: Sequence[str]) -> tuple[bytes, ...]:
        """Return the PATHs of a command line; raise NotFound for a path that is on neither side."""
        found = named_paths(self.project, self.workspace, names)
        refuse_unknown(self.snapshots.store, (Sha(self.before), Sha(self.after)), found)
        return found

    def stat(self, paths: tuple[bytes, ...] = ()) -> DiffStat:
        """Return the figures of the difference, file by file."""
        return self.snapshots.diff_stat(self.before, self.after, paths)

    def mode_changes(self, paths: tuple[bytes, ...] = ()) -> list[ModeChange]:
        """Return the paths whose permissions differ."""
        found = self.snapshots.mode_changes(self.before, self.after, self.modes)
        return [c for c in found if is_selected(c.path, paths)]

    def links(self, paths: tuple[bytes, ...] = ()) -> list[str]:
        """Return changed hard links as texts such as ``a (with b)``."""
        found = self.snapshots.link_changes(self.before, self.after, self.modes)
        return [_shown_link(p, group) for p, group in found.items() if is_selected(p, paths)]

    def stat_record(self, paths: tuple[bytes, ...] = ()) -> dict[str, Any]:
        """Return the figures in the form of a ledger line."""
        from siding.record.ledger.figures import DiffFigures, ModeFigures

        modes = ModeFigures.of(self.mode_changes(paths))
        return DiffFigures.of(self.stat(paths)).as_record() | modes.as_record()

    def write_patch(self, fd: int, paths: tuple[bytes, ...] = ()) -> None:
        """Write the patch to the file descriptor `fd`, byte for byte."""
        self.snapshots.write_patch(self.before, self.after, fd, paths)

    def patch_lines(self, paths: tuple[bytes, ...] = ()) -> Iterator[str]:
        """Yield the lines of the patch as text; bytes that are not UTF-8 become ``\\xNN``."""
        for line in patch_lines(self.snapshots, self.before, self.after, paths):
            yield line.decode("utf-8", "backslashreplace")


@contextmanager
def difference(
    project: Project,
    named: str | None,
    *,
    at: str | None,
    start: str | KeptState | None,
    end: str | None,
) -> "Iterator[Difference | RecordedPatch]":
    """Yield the difference of a step (`at`), of a range, or of the whole task up to now.

    `start` and `end` are step numbers, ``base``, ``last`` or ``now``; `start` may also be a state
    that was kept. Raises NotFound and UsageError for points that do not exist.
    """
    task = select(project, named)
    workspace = workspace_of(project, task)
    if workspace is None:
        raise SidingError(f"task {task.name!r} never had a workspace, so nothing was changed")
    kept = start if isinstance(start, KeptState) else None
    snapshots = TaskSnapshots(project, workspace, beside=kept.objects if kept else None)

    def of(before: str, after: str, title: str, view: TaskSnapshots) -> Difference:
        return Difference(
            task=task,
            before=before,
            after=after,
            title=title,
            snapshots=view,
            project=project,
            workspace=workspace,
        )

    if at is not None:
        if start or end:
            raise UsageError("--step names one step; --from and --to name a range")
        from siding.record.recording.freed import refuse_freed, refuse_freed_patch
        from siding.record.recording.recorded_patches import has_snapshots, recorded_patch
        from siding.record.recording.steps import same_number, step

        _task, one = step(project, task.id, at)
        if others := same_number(project, task, one):
            project.app.warn(others)
        recorded = recorded_patch(project, task, workspace, one)
        if recorded is not None:
            yield recorded
            return
        if not has_snapshots(project, workspace, one):
            refuse_freed_patch(project, task.id, one)
        refuse_freed(project, f"step {one.id}", one.snapshot)
        refuse_freed(project, f"the state before step {one.id}", one.parent)
        if one.parent is None or one.snapshot is None:
            raise NotFound(
                f"step {one.id} has no snapshots to compare, and left no patch",
                hint=f"`siding show {one.number}` shows what is recorded of it",
            )
        yield of(one.parent, one.snapshot, f"step {one.id}", snapshots)
        return
    if not workspace.base_snapshot:
        raise no_base(task)
    title = f"{kept.title if kept else start or 'base'}..{end or 'now'}"
    named_start = start if isinstance(start, str) and start else "base"
    before = kept.snapshot if kept else _recorded(project, task, workspace, named_start)
    tip = snapshots.tip() if workspace.status is WorkspaceState.REMOVED else None
    if end in (None, "now") and tip is not None:  # its last state stands for a workspace that left
        yield of(before, tip, title.removesuffix("now") + "last", snapshots)
        return
    if end in (None, "now"):
        with snapshots.peek() as (seen, view):
            yield of(before, seen.tree, title, view)._replace(modes=seen.modes)
        return
    yield of(before, _recorded(project, task, workspace, end), title, snapshots)


def _recorded(project: Project, task: Task, workspace: Workspace, name: str) -> str:
    """Return the snapshot of ``base``, ``last`` or a step number."""
    if name in ("base", "0"):
        return line_base(project, workspace).snapshot
    if name == "now":
        raise UsageError("`now` can only be the end of a range", hint="--from base --to now")
    from siding.record.recording.freed import refuse_freed
    from siding.record.recording.steps import step

    _task, found = step(project, task.id, name)
    if found.snapshot is None:
        raise NotFound(f"step {found.id} has no snapshot")
    refuse_freed(project, f"step {found.id}", found.snapshot)
    return found.snapshot


def patch_lines(
    snapshots: TaskSnapshots, before: str, after: str, paths: Sequence[bytes]
) -> Iterator[bytes]:
    """Yield the lines of a patch with their newlines; the patch need not fit into memory."""
    with _unnamed_file() as patch:
        snapshots.write_patch(before, after, patch.fileno(), paths)
        os.lseek(patch.fileno(), 0, os.SEEK_SET)
        yield from patch


def _unnamed_file() -> BinaryIO:
    """Return an open file without a name: in the temporary directory, else in memory."""
    import tempfile

    try:
        return cast("BinaryIO", tempfile.TemporaryFile(prefix="siding-diff-"))
    except OSError:
        if not hasattr(os, "memfd_create"):
            raise
        return os.fdopen(os.memfd_create("siding-diff"), "w+b")
