"""Follow the output of a run while it lives: the new bytes of its streams, until it has ended."""

import time
from collections.abc import Iterator, Mapping

from siding.ground.errors import NotFound
from siding.ground.namedtuples import NamedTuple
from siding.record.place.project import Project
from siding.record.recording.outputs import Output, output
from siding.record.recording.steps import Step, running_step, step
from siding.record.tasks.task import Task

_AT_ONCE = 1 << 20  # bytes
_LOOK_EVERY_S = 0.1


class Piece(NamedTuple):
    """New bytes of a stream: 1 is standard output or the terminal, 2 standard error."""

    stream: int
    data: bytes


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
