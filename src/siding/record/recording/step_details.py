"""What front ends show of a step besides its line: commits, output, what its run asked, reports.

An output need not fit into memory, recorded or while its run lives: it is read in ranges.
"""

import time
from collections.abc import Iterator, Mapping

from siding.ground.errors import NotFound, SidingError
from siding.ground.git.paths import quote_path
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.output.reading import Output, Span, read_output
from siding.record.ledger.reports import (
    IsolationReport,
    OutsideChange,
    PolicyEvent,
    SandboxReport,
    Trap,
)
from siding.record.ledger.step import Step
from siding.record.place.project import Project
from siding.record.recording.steps import running_step, step
from siding.record.runs.requests import KIND, Asked, read_requests
from siding.record.tasks.task import Task

LISTED = 20  # the most commits that are looked up, because a rebase can make hundreds
__all__ = [
    "Asked",
    "IsolationReport",
    "Output",
    "OutsideChange",
    "PolicyEvent",
    "SandboxReport",
    "Span",
    "Trap",
    "quote_path",
]
_AT_ONCE = 1 << 20  # bytes
_LOOK_EVERY_S = 0.1


class StepCommit(NamedTuple):
    """A commit of a step; `subject` is None if the repository no longer has the commit."""

    sha: str
    subject: str | None


def commits_of(project: Project, step: Step) -> list[StepCommit]:
    """Return the first `LISTED` commits of a step; git is started only if there are any."""
    return [StepCommit(sha, _subject(project, Sha(sha))) for sha in step.commits[:LISTED]]


def _subject(project: Project, sha: Sha) -> str | None:
    try:
        return project.repository.summary(sha).subject
    except SidingError:
        return None


def asked_by(project: Project, task: Task, step: Step) -> list[Asked]:
    """Return what a run asked and was told, in order; nothing if its file is gone."""
    named = step.artifacts.get(KIND)
    try:
        return read_requests(project.task_layout(task.id).root / named) if named else []
    except OSError:
        return []


class Piece(NamedTuple):
    """New bytes of a stream: 1 is standard output or the terminal, 2 standard error."""

    stream: int
    data: bytes


def output(project: Project, task: Task, found: Step) -> Output | None:
    """Return the output of a step; None if there is none."""
    run = found.as_run
    told = run.output if run else None
    counts = (None, None) if told is None else (told.stdout_bytes, told.stderr_bytes)
    layout = project.task_layout(task.id)
    # The file has the act's id until the step is recorded. It may be renamed between two attempts,
    # so the number is tried a second time. Before that the number may be another step's.
    stems = (found.number, found.act or found.number, found.number)
    for stem in (found.act,) if found.act and not found.is_chained else stems:
        try:
            return read_output(layout.artifact(stem, "output"), *counts)
        except FileNotFoundError:
            continue
    return None


def find_run(project: Project, named: str | None, wanted: str) -> tuple[Task, Step]:
    """Return the run that lives, or the recorded step, that `wanted` names: an id or `last`."""
    return running_step(project, named, wanted) or step(project, named, wanted)


def follow(project: Project, task: Task, found: Step) -> Iterator[Piece]:
    """Yield the output of a run from its beginning; wait for more until the run has ended."""
    position = {1: 0, 2: 0}
    wanted = found.run or found.id
    while True:
        # Asked first: what a run printed is all there by the time it is seen to have ended.
        running = running_step(project, task.id, wanted)
        current = running[1] if running else _recorded(project, task, wanted, found)
        try:
            pieces = list(_new(output(project, task, current), position))
        except FileNotFoundError:  # the file was given the name of its step since it was found
            continue
        for piece in pieces:
            position[piece.stream] += len(piece.data)
            yield piece
        if running is None and not pieces:
            return
        if not pieces:
            time.sleep(_LOOK_EVERY_S)


def _recorded(project: Project, task: Task, wanted: str, found: Step) -> Step:
    try:
        return step(project, task.id, wanted)[1]
    except NotFound:
        return found  # its step is being recorded


def _new(streams: Output | None, position: Mapping[int, int]) -> Iterator[Piece]:
    if streams is None:
        return
    for number, span in ((1, streams.stdout), (2, streams.stderr)):
        data = span.read(position[number], _AT_ONCE)
        if data:
            yield Piece(number, data)
