"""Show a task with its workspace."""

from siding.app.place.old_home import workspace_of
from siding.app.place.project import Project
from siding.app.place.selection import select
from siding.app.waiting.board import TaskRow, rows
from siding.tasks.ports import ports_of
from siding.tasks.registry import Workspace
from siding.tasks.task import Task

__all__ = ["TaskRow", "ports", "rows", "show"]


def show(project: Project, named: str | None) -> tuple[Task, Workspace | None]:
    """Return the task that is named, or the current one, and its workspace."""
    task = select(project, named)
    return task, workspace_of(project, task)


def ports(project: Project, task: Task) -> range:
    """Return the ports of a task, the first of which is its ``SIDING_PORT``; none before its first
    run."""
    return ports_of(project.app.home, project.layout, task.id)
