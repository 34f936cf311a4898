"""The recorded patch of one step, which is shown where its snapshots do not exist."""

import os
from collections.abc import Iterator, Sequence
from typing import Any

from siding.ground.errors import UsageError
from siding.ground.files.durable import write_all
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.output.reading import Span
from siding.record.ledger.figures import DiffFigures
from siding.record.ledger.step import Step
from siding.record.place.project import Project
from siding.record.recording.freed import freed_at
from siding.record.recording.patch_files import parts_of, patch_span
from siding.record.snapshots.mode_changes import ModeChange
from siding.record.snapshots.patches import DiffStat, FileStat
from siding.record.tasks.registry import Workspace
from siding.record.tasks.task import Task


class RecordedPatch(NamedTuple):
    """The recorded patch of one step, used if its snapshots do not exist."""

    task: Task
    before: str | None
    after: str | None
    title: str
    span: Span

    def paths(self, names: Sequence[str]) -> tuple[bytes, ...]:
        """Return no paths; raise UsageError if PATHs are named: the patch cannot be split."""
        _refuse_paths(tuple(map(os.fsencode, names)))
        return ()

    def mode_changes(self, paths: tuple[bytes, ...] = ()) -> list[ModeChange]:
        """Return nothing: a patch contains no permissions except the executable bit."""
        _refuse_paths(paths)
        return []

    def links(self, paths: tuple[bytes, ...] = ()) -> list[str]:
        """Return nothing: a patch contains no hard links."""
        _refuse_paths(paths)
        return []

    def stat(self, paths: tuple[bytes, ...] = ()) -> DiffStat:
        """Return the figures of the patch, file by file."""
        _refuse_paths(paths)
        files = tuple(
            FileStat(
                status=part.status,
                path=os.fsencode(part.name),
                additions=None if part.is_binary else part.additions,
                deletions=None if part.is_binary else part.deletions,
            )
            for part in parts_of(self.span)
        )
        return DiffStat(
            files=len(files),
            additions=sum(each.additions or 0 for each in files),
            deletions=sum(each.deletions or 0 for each in files),
            per_file=files,
        )

    def stat_record(self, paths: tuple[bytes, ...] = ()) -> dict[str, Any]:
        """Return the figures in the form of a ledger line."""
        return DiffFigures.of(self.stat(paths)).as_record()

    def write_patch(self, fd: int, paths: tuple[bytes, ...] = ()) -> None:
        """Write the patch to the file descriptor `fd`, byte for byte."""
        _refuse_paths(paths)
        block = b""
        for block in self.span.chunks(1 << 18):
            write_all(fd, block)
        if block and not block.endswith(b"\n"):
            write_all(fd, b"\n")  # another tool cuts it off, and `git apply` refuses the patch then

    def patch_lines(self, paths: tuple[bytes, ...] = ()) -> Iterator[str]:
        """Yield the lines of the patch as text; bytes that are not UTF-8 become ``\\xNN``."""
        _refuse_paths(paths)
        with open(self.span.path, "rb") as patch:
            for line in patch:
                yield line.decode("utf-8", "backslashreplace")


def _refuse_paths(paths: tuple[bytes, ...]) -> None:
    if paths:
        raise UsageError(
            "the snapshots of this step do not exist, and its recorded patch cannot be limited to "
            "paths",
            hint="leave the paths out",
        )


def recorded_patch(
    project: Project, task: Task, workspace: Workspace, one: Step
) -> RecordedPatch | None:
    """Return the step's patch if its snapshots never existed, were lost or freed, else None."""
    if has_snapshots(project, workspace, one):
        return None
    span = patch_span(project, task, one)
    if span is None:
        return None
    return RecordedPatch(task, one.parent, one.snapshot, f"step {one.id}", span)


def has_snapshots(project: Project, workspace: Workspace, one: Step) -> bool:
    """Tell whether the states before and after the step are there to be compared."""
    is_there = one.parent is not None and one.snapshot is not None and project.has_repository
    is_there = is_there and freed_at(project, one.parent, one.snapshot) is None
    is_there = is_there and one.number > workspace.lost_until
    return is_there and project.snapshots.objects.is_dir()
