"""Show a task with its workspace, and the tasks as this terminal sees them."""

from siding.feed.board import Board, TaskRow, look, rows
from siding.record.place.project import Project
from siding.record.place.selection import current_task_id, select
from siding.record.tasks.registry import Workspace
from siding.record.tasks.task import Task

__all__ = ["TaskRow", "listed", "live_workflows", "ports", "rows", "show"]


def listed(project: Project, *, include_closed: bool) -> Board:
    """Return the board; active is the task that commands in this terminal are about."""
    here = current_task_id(project)
    board = look(project, include_closed=include_closed)
    return board._replace(rows=[row._replace(active=row.id == here) for row in board.rows])


def show(project: Project, named: str | None) -> tuple[Task, Workspace | None]:
    """Return the task that is named, or the current one, and its workspace."""
    from siding.record.place.task_workspace import workspace_of

    task = select(project, named)
    return task, workspace_of(project, task)


def ports(project: Project, task: Task) -> range:
    """Return the ports of a task, the first of which is its ``SIDING_PORT``; none before its first
    run. Raises UnreadableFile."""
    from siding.record.tasks.ports import ports_of

    return ports_of(project.app.home, project.layout, task.id)


def live_workflows(project: Project, task: Task) -> list[str]:
    """Return a phrase about each run of a workflow that is at work in a task."""
    if not project.layout.workflow_runs_dir.is_dir():
        return []
    # Imported here because most projects have no workflows.
    from siding.feed.workflow_runs import live_runs

    return [
        f"{run.name}, {run.progress}: siding workflow watch {run.run_id}"
        for run in live_runs(project, task.id)
    ]
