"""Read what the task's screen shows. Everything here is called in a thread, and changes nothing."""

import os
from collections.abc import Mapping, Sequence

from siding.comments import comments as all_comments
from siding.comments.comment import Placed, Side
from siding.faces.tui.places.task.changes import (
    Change,
    From,
    Since,
    read_change,
    recorded_change,
    text_of,
)
from siding.faces.tui.places.task.source import File, Note, Shape
from siding.faces.tui.places.task.tree import Remark, Start
from siding.feed.addresses import Address
from siding.ground.errors import SidingError
from siding.ground.namedtuples import NamedTuple
from siding.looks.hunks import Hunk, Patch, patch_of
from siding.looks.marking import seen
from siding.looks.marks import FileSeen, State
from siding.looks.since import BASE, LOOK, starts
from siding.record.place.project import Project, named_project
from siding.record.place.selection import select
from siding.record.place.wiring import App
from siding.record.recording.step_details import quote_path
from siding.record.recording.steps import Task

_MARKS = {State.VIEWED: "viewed", State.CHANGED: "changed", State.NEW: ""}


class Opened(NamedTuple):
    """The task of an address."""

    project: Project
    task: Task


def open_task(app: App, address: Address) -> Opened:
    """Return the task that an address names. Raises NotFound."""
    project = named_project(app._replace(project=address.project))
    return Opened(project, select(project, address.place))


class PatchRead(NamedTuple):
    """A patch with what people said of it and have seen of it."""

    shape: Shape
    patch: Patch | None  # its hunks as the marks know them
    placed: tuple[Placed, ...]
    starts: tuple[Start, ...]
    is_whole: bool = True  # also what no step has yet

    @property
    def change(self) -> Change:
        return self.shape.change


def read_first(opened: Opened) -> PatchRead | None:
    """Return the patch as it is recorded, which is there at once; None if it is not."""
    change = recorded_change(opened.project, opened.task)
    if change is None:
        return None
    return PatchRead(Shape(change), None, (), (), is_whole=False)


def read_patch(opened: Opened, since: Since, before: PatchRead | None = None) -> PatchRead:
    """Return a patch as it is now; its hunks are those of `before` if nothing has changed."""
    project, task = opened
    change = read_change(project, task, since, None if before is None else before.change)
    same = before is not None and before.change == change
    shape = before.shape if before is not None and same else Shape(change)
    patch = before.patch if before is not None and same else None
    if patch is None and change.span is not None and since.kind is not From.OF_STEP:
        with open(change.span.path, "rb") as lines:
            patch = patch_of(change.before, lines)
    placed: Sequence[Placed] = ()
    if since.kind is not From.ATTEMPT:
        _task, placed = all_comments.listed(project, task.id)
    return PatchRead(shape, patch, tuple(placed), _starts(project, task))


def _starts(project: Project, task: Task) -> tuple[Start, ...]:
    found = []
    for each in starts(project, task.id):
        if each.name == LOOK:
            since = Since(From.LOOK)
        else:
            since = Since() if each.name == BASE else Since(From.STEP, each.name)
        found.append(Start(since, each.title))
    return tuple(found)


def seen_of(opened: Opened, read: PatchRead) -> list[FileSeen]:
    """Return what the person has seen of each file of a patch."""
    if read.patch is None:
        return []
    return seen(opened.project, opened.task.id, read.patch)


def files_of(
    read: PatchRead, known: Sequence[FileSeen], shown: Mapping[int, File]
) -> dict[int, File]:
    """Return what the screen knows of each file: what was seen and said, and what is folded."""
    by_path = {each.path: each for each in known}
    found: dict[int, File] = {}
    for number, part in enumerate(read.change.parts):
        file = by_path.get(part.path)
        before = shown.get(number, File())
        hunks = [each for each in file.hunks if each.hunk.number] if file is not None else []
        found[number] = before._replace(
            mark="" if file is None else _MARKS[file.state],
            hunk_marks=tuple(_MARKS[each.state] for each in hunks),
            comments=tuple(_note(each) for each in read.placed if each.comment.path == part.path),
        )
    return found


def _note(placed: Placed) -> Note:
    comment = placed.comment
    who = f"run {comment.by}" if comment.by else "you"
    return Note(
        id=comment.id,
        is_old=comment.side is Side.OLD,
        line=0 if placed.is_stale else comment.last,
        title=f"{who}, {placed.shown_state} · {comment.id}",
        text=comment.said,
    )


def remarks_of(read: PatchRead) -> list[Remark]:
    """Return all comments for the list beside the patch."""
    numbers = {part.path: number for number, part in enumerate(read.change.parts)}
    return [
        Remark(
            id=each.comment.id,
            file=numbers.get(each.comment.path, -1),
            where=f"{each.comment.path.rpartition('/')[2]}:{each.comment.first}",
            state=each.shown_state,
            text=each.comment.said,
        )
        for each in read.placed
    ]


def hunks_at(read: PatchRead, file: int, hunk: int = -1) -> list[Hunk]:
    """Return the hunks of a file, or the one of them that is named, as the marks know them."""
    if read.patch is None:
        return []
    path = read.change.parts[file].path
    own = [each for each in read.patch.hunks if each.path == path]
    return own if hunk < 0 else [each for each in own if each.number == hunk + 1]


def lines_of_file(opened: Opened, read: PatchRead, file: int) -> list[str]:
    """Return all lines of a file as it is after the change. Raises SidingError if it is unknown."""
    found = text_of(opened.project, opened.task, read.change.parts[file])
    if found is None:
        name = quote_path(os.fsencode(read.change.parts[file].path))
        raise SidingError(
            f"the lines of {name} around the change cannot be read",
            hint="the file was changed since, is too large, or its state was freed; r reads again",
        )
    lines = found.split("\n")
    return lines[:-1] if lines[-1] == "" else lines
