"""Marks on the hunks of a task's change: what a person has read of it.

A screen that has a patch reads it with `patch_of`, and asks `seen`; `view` and `unview` change the
marks. A command has no patch yet: `present` makes it.
"""

import os
from collections.abc import Callable, Iterable, Sequence

from siding.ground.errors import NotFound
from siding.ground.git.paths import is_under
from siding.ground.ids import TaskId
from siding.looks.hunks import File, Hunk, Patch, patch_of
from siding.looks.marks import (
    FileSeen,
    Mark,
    Marks,
    Progress,
    marked,
    progress_of,
    seen_in,
    unmarked,
)
from siding.looks.store import Looks
from siding.record.place.project import Project
from siding.record.place.task_workspace import known_workspace
from siding.record.place.wiring import is_in_step
from siding.record.recording.calling_step import InsideStep
from siding.record.recording.difference import Difference, difference, patch_lines
from siding.record.recording.named_paths import below_workspace
from siding.record.tasks.task import Task


def seen(project: Project, task_id: TaskId, patch: Patch) -> list[FileSeen]:
    """Return what a person knows of each file of a patch. Raises DamagedFile, NewerVersion."""
    return seen_in(patch, Looks.read(project.task_layout(task_id)).marks)


def view(project: Project, task_id: TaskId, patch: Patch, chosen: Sequence[Hunk]) -> list[FileSeen]:
    """Mark hunks of a patch; return what a person knows of it then. Again is no error."""
    return _changed(project, task_id, patch, chosen, marked)


def unview(
    project: Project, task_id: TaskId, patch: Patch, chosen: Sequence[Hunk]
) -> list[FileSeen]:
    """Take marks off hunks of a patch; return what a person knows of it then."""
    return _changed(project, task_id, patch, chosen, unmarked)


_Change = Callable[[Marks, Patch, Iterable[Hunk]], dict[File, dict[str, Mark]]]


def _changed(
    project: Project, task_id: TaskId, patch: Patch, chosen: Sequence[Hunk], change: _Change
) -> list[FileSeen]:
    refuse_inside_run(project)
    with Looks.changing(project.task_layout(task_id)) as looks:
        looks.marks = change(looks.marks, patch, chosen)
        return seen_in(patch, looks.marks)


def refuse_inside_run(project: Project) -> None:
    """Raise InsideStep inside a run: what a person has read, only they say."""
    if is_in_step(project.app):
        raise InsideStep(
            "this command runs inside a task's step, and marks are what a person has read",
            hint="it is for a person: `siding viewed` in a terminal of your own",
        )


def progress(project: Project, task_id: TaskId, patch: Patch) -> Progress:
    """Return how much of a patch is viewed: its text is such as "3/8 viewed"."""
    return progress_of(seen(project, task_id, patch))


def present(project: Project, named: str | None) -> tuple[Task, Patch]:
    """Return a task, and the patch of all that it changes."""
    with difference(project, named, at=None, start=None, end=None) as found:
        assert isinstance(found, Difference)  # only a step may be a recorded patch
        return found.task, read_patch(found)


def read_patch(found: Difference) -> Patch:
    """Return what the patch of a difference has."""
    return patch_of(found.before, patch_lines(found.snapshots, found.before, found.after, ()))


def chosen(project: Project, task: Task, patch: Patch, names: Sequence[str]) -> list[Hunk]:
    """Return the hunks that are named: PATH, or PATH:HUNK for one of them. Raises NotFound."""
    workspace = known_workspace(project, task)

    def below(name: str, number: int | None) -> list[Hunk]:
        path = below_workspace(project, workspace, name)
        return [
            hunk
            for hunk in patch.hunks
            if is_under(os.fsencode(hunk.path), path) and number in (None, hunk.number)
        ]

    found: dict[Hunk, None] = {}
    for name in names:
        path, colon, number = name.rpartition(":")
        hunks = below(name, None)
        if not hunks and colon and path and number.isdecimal():
            hunks = below(path, int(number))
            if not hunks and (others := below(path, None)):
                raise NotFound(
                    f"{path!r} has no hunk {number}",
                    hint=f"it has {', '.join(str(each.number) for each in others)}",
                )
        if not hunks:
            raise NotFound(
                f"the task changes nothing in {name!r}", hint="`siding viewed` lists its files"
            )
        found |= dict.fromkeys(hunks)
    return [*found]
