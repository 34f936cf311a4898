"""List the traps of a task for a person: those in its snapshots, and those that none has."""

from pathlib import Path

from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.record.ledger.reports import Trap
from siding.record.place.busy import live_in
from siding.record.place.project import Project
from siding.record.place.selection import select
from siding.record.recording.held_traps import holds, not_seen, traps_of_task
from siding.record.recording.line_base import no_base
from siding.record.recording.snapshots import TaskSnapshots
from siding.record.tasks.task import Task
from siding.record.traps.left import Unrecorded, left_traps


class TaskTraps(NamedTuple):
    """The traps of a task as it is now. `new` are those that nobody has seen.

    Of those in `unrecorded` no snapshot has the content: git ignores them.
    """

    task: Task
    traps: tuple[Trap, ...]
    new: tuple[Trap, ...]
    held: bool  # until somebody has seen them
    unrecorded: tuple[Trap, ...] = ()


def traps_now(project: Project, named: str | None) -> TaskTraps:
    """Return the traps in a task's workspace, or in its newest snapshot if it has none any more.

    While runs live, those of the newest step as well: an apply takes that.
    """
    task = select(project, named)
    workspace = project.workspaces.of_task(task.id)
    if workspace is None or not workspace.base_snapshot:
        raise no_base(task)
    last = project.ledger(task.id).last()
    found: dict[str, Trap] = {}
    left: tuple[Trap, ...] = ()
    is_there = Path(workspace.path).is_dir()
    if is_there:
        with TaskSnapshots(project, workspace).peek() as (seen, view):
            look = Unrecorded(seen.ignored, seen.coverage.nested)
            left = left_traps(project, workspace, look)
            traps = traps_of_task(project, workspace, view.store, seen.tree)
            found = {each.content: each for each in (*traps, *left)}
    if last is not None and last.snapshot and (not is_there or live_in(project, task.id)):
        traps = traps_of_task(project, workspace, project.snapshots, Sha(last.snapshot))
        found |= {each.content: each for each in traps}
    all_of_them = tuple(sorted(found.values()))
    new = not_seen(project, all_of_them)
    return TaskTraps(task, all_of_them, new, bool(new) and holds(project, task.id), left)
