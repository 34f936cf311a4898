"""End what runs that have ended left running."""

from collections.abc import Sequence

from siding.ground.errors import UsageError
from siding.ground.ids import TaskId
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.ender import LeftTree, end_all
from siding.ground.process.tree import TERM_GRACE_S
from siding.record.place.project import Project
from siding.record.runs.left import LeftFiles, LeftRunning
from siding.record.tasks.task import Task
from siding.record.unfinished.left_running import LeftProcess, described, trees_in


class EndedLeft(NamedTuple):
    """What a run had left running, and was ended now.

    `stays` could not be ended: it is another user's, or stuck in the kernel.
    """

    task: Task
    run: LeftRunning
    ended: tuple[LeftProcess, ...]
    stays: tuple[LeftProcess, ...]


def end_left(
    project: Project, task: Task, runs: Sequence[str] | None, *, now: bool = False
) -> list[EndedLeft]:
    """End what the runs with these ids left running, or with None all runs of the task.

    Each process gets SIGTERM and two seconds to tidy up, then SIGKILL; with `now` that at once.
    What this command runs in is left alone.
    """
    found = []
    for left, tree in trees_in(project, task.id):
        if (runs is None or left.id in runs) and tree.living():
            found.append(_end(project, task, left, tree, now=now))
    return found


def refuse_from_inside(project: Project, task_id: TaskId, runs: Sequence[str]) -> None:
    """Raise UsageError if this command runs in what one of the runs left running."""
    for left, tree in trees_in(project, task_id):
        if left.id in runs and tree.is_around_us():
            raise UsageError(
                f"this command runs in what {left.id} left running, which it would end",
                hint="do it in another terminal",
            )


def _end(
    project: Project, task: Task, left: LeftRunning, tree: LeftTree, *, now: bool
) -> EndedLeft:
    # Named before they end: nothing says afterwards what they were.
    before = {(each.pid, each.started): each for each in described(project, left, tree.living())}
    result = end_all(tree, grace_s=0.0 if now else TERM_GRACE_S)
    stays = {(each.pid, each.started) for each in result.survivors}
    gone = [
        before.get((each.pid, each.started), LeftProcess(each.pid, each.started, each.name, 0))
        for each in result.ended
    ]
    if not stays and not tree.everyone():
        LeftFiles(project.task_layout(task.id)).remove(left.number)
    return EndedLeft(
        task,
        left,
        ended=tuple(gone),
        stays=tuple(each for key, each in before.items() if key in stays),
    )
