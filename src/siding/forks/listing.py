"""The forks of a project as rows of a list."""

from siding.forks.children import Parentage, forks_of
from siding.ground.ids import TaskId
from siding.ground.namedtuples import NamedTuple
from siding.record.place.project import Project
from siding.record.runs.store import Runs
from siding.record.tasks.task import TaskState


class ForkRow(NamedTuple):
    """One fork. `step` is that of its parent after which it was made; `kept` the task of the board
    that was started from it."""

    id: str
    name: str
    parent: str
    step: str
    group: str
    call: str
    status: str  # active, running, closed
    steps: int
    applied: bool
    kept: str
    updated_at: str
    workspace: str


def fork_rows(
    project: Project,
    *,
    parent: TaskId | None = None,
    group: str | None = None,
    closed: bool = False,
) -> list[ForkRow]:
    """Return the forks, oldest first; closed ones only if that is asked."""
    rows = []
    for task in forks_of(project, parent=parent, group=group):
        found = Parentage.of(task)
        if found is None or (task.status is TaskState.CLOSED and not closed):
            continue
        last = project.ledger(task.id).last()
        workspace = project.registry.of_task(task.id)
        running = task.status is not TaskState.CLOSED and bool(
            Runs(project.task_layout(task.id)).live()
        )
        rows.append(
            ForkRow(
                id=task.id,
                name=task.name,
                parent=found.parent,
                step=found.step,
                group=found.group,
                call=found.call,
                status="running" if running else task.status.value,
                steps=0 if last is None else last.number,
                applied=bool(found.applied),
                kept=found.kept,
                updated_at=task.updated_at if last is None else last.ended_at or task.updated_at,
                workspace=workspace.path if workspace and task.status is TaskState.ACTIVE else "",
            )
        )
    return sorted(rows, key=lambda row: (row.updated_at, row.id))
