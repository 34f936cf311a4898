"""Read what changed in a task: all of it, since a step, in a step, between two, or two attempts.

Everything here may take a moment and is called in a thread. The patch stays on the disk, however
long it is, and is read in windows.
"""

from enum import StrEnum
from typing import assert_never

from siding.ground.errors import SidingError
from siding.ground.ids import TaskId
from siding.ground.namedtuples import NamedTuple
from siding.looks.since import LOOK, changed_since
from siding.record.place.project import Project
from siding.record.place.task_workspace import workspace_of
from siding.record.recording.content_now import content_now
from siding.record.recording.difference import Difference, difference, shown_modes
from siding.record.recording.line_base import line_base
from siding.record.recording.recorded_patches import (
    FilePart,
    RecordedPatch,
    content_of,
    kept_patch,
    parts_of,
    whole_patch,
)
from siding.record.recording.snapshots import TaskSnapshots
from siding.record.recording.step_details import Span
from siding.record.recording.steps import Task

LARGEST = 4 << 20  # bytes of a text whose lines are shown beyond the patch


class From(StrEnum):
    """From which state a change is counted."""

    BASE = "base"
    LOOK = "look"  # my last look
    STEP = "step"  # the state after a step, up to now
    OF_STEP = "of step"  # what one step changed
    BETWEEN = "between"  # two steps
    ATTEMPT = "attempt"  # the newest state of a fork, from that of the task


class Since(NamedTuple):
    """Which change is shown: `first` and `last` are steps, or the id of a fork."""

    kind: From = From.BASE
    first: str = ""
    last: str = ""

    @property
    def follows(self) -> bool:
        """Whether it grows while the task goes on."""
        return self.kind in (From.BASE, From.LOOK, From.STEP)


class Change(NamedTuple):
    """A change as it was read. `span` is None if no file differs.

    `notes` are sentences about what a patch has no place for: permissions and hard links.
    """

    since: Since
    title: str
    before: str
    after: str
    span: Span | None
    parts: tuple[FilePart, ...]
    notes: tuple[str, ...] = ()

    @property
    def additions(self) -> int:
        return sum(part.additions for part in self.parts)

    @property
    def deletions(self) -> int:
        return sum(part.deletions for part in self.parts)


def recorded_change(project: Project, task: Task) -> Change | None:
    """Return what is known at once: the change from the base to the last step.

    None if that has to be worked out. What changed since the last step is not in it.
    """
    workspace, last = workspace_of(project, task), project.ledger(task.id).last()
    if workspace is None or last is None or not workspace.base_snapshot or not last.snapshot:
        return None
    before = line_base(project, workspace).snapshot
    span = whole_patch(project, task)
    parts = () if span is None else tuple(parts_of(span))
    return Change(Since(), "the whole task", before, last.snapshot, span, parts)


def read_change(project: Project, task: Task, since: Since) -> Change:
    """Return a change as it is now. Raises SidingError."""
    match since.kind:
        case From.OF_STEP:
            with difference(project, task.id, at=since.first, start=None, end=None) as found:
                return _read(project, since, f"step {since.first}", found)
        case From.STEP | From.BETWEEN:
            last = since.last or None
            with difference(project, task.id, at=None, start=since.first, end=last) as found:
                title = f"since step {since.first}" if last is None else f"{since.first} → {last}"
                return _read(project, since, title, found)
        case From.ATTEMPT:
            return _attempt(project, task, since)
        case From.LOOK:
            with changed_since(project, task.id, LOOK) as found:
                return _read(project, since, "since my last look", found)
        case From.BASE:
            with difference(project, task.id, at=None, start=None, end=None) as found:
                return _read(project, since, "the whole task", found)
        case _:
            assert_never(since.kind)


def _read(project: Project, since: Since, title: str, found: Difference | RecordedPatch) -> Change:
    if isinstance(found, RecordedPatch):
        span: Span | None = found.span
        before, after = found.before or "", found.after or ""
    else:
        before, after = found.before, found.after
        span = kept_patch(project, found.snapshots, before, after) if before != after else None
    notes = (
        *(f"permissions: {each}" for each in shown_modes(found.mode_changes())),
        *(f"links: {each}" for each in found.links()),
    )
    parts = () if span is None else tuple(parts_of(span))
    return Change(since, title, before, after, span, parts, notes)


def _attempt(project: Project, task: Task, since: Since) -> Change:
    """Return what a fork has otherwise than the task: both at their newest recorded state."""
    workspace = workspace_of(project, task)
    attempt = project.tasks.load(TaskId(since.first))
    mine, other = (project.ledger(each).last() for each in (task.id, attempt.id))
    there = workspace_of(project, attempt)
    before = mine.snapshot if mine is not None else None
    before = before or (workspace.base_snapshot if workspace is not None else None)
    after = other.snapshot if other is not None else None
    after = after or (there.base_snapshot if there is not None else None)
    if workspace is None or not before or not after:
        raise SidingError(
            f"attempt {since.first} has no recorded state to compare with",
            hint="it has once a step of it was recorded",
        )
    span = kept_patch(project, TaskSnapshots(project, workspace), before, after)
    parts = () if span is None else tuple(parts_of(span))
    return Change(since, f"this → attempt {since.first}", before, after, span, parts)


def text_of(project: Project, task: Task, part: FilePart, *, old: bool = False) -> str | None:
    """Return a file as it is on one side of the change; None if that is unknown, or too large.

    What no snapshot has yet is read in the workspace, if it is there as the patch says.
    """
    blob = part.old_blob if old else part.new_blob
    text = content_of(project, blob, LARGEST) if blob else None
    if text is None and blob and not old:
        return content_now(project, task, part, LARGEST)
    return text
