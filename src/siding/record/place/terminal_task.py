"""Bind this terminal to a task; which task it is and was about."""

from siding.ground.ids import TaskId
from siding.ground.process.identity import has_terminal
from siding.record.place.project import Project
from siding.record.place.selection import bound_here, task_here, task_of_run
from siding.record.tasks.terminals import Terminals, TerminalTask


def make_current(project: Project, task_id: TaskId) -> bool:
    """Make a task the active one, and bind this terminal to it; return whether it was bound.

    The caller holds the project's lock.
    """
    bound = bound_here(project)
    before = bound.task if bound is not None else project.active_task_id() or ""
    project.set_active(task_id)
    leader = project.app.session
    if leader is None or task_of_run(project) is not None or not has_terminal():
        return False  # what a run does is not what its terminal is about
    binding = TerminalTask(task_id, before if before != task_id else "")
    Terminals(project.layout).bind(leader, binding, at=project.app.now())
    return True


def ended_here(project: Project) -> TaskId | None:
    """Return the task that this terminal is bound to, if it is closed or gone."""
    bound = bound_here(project)
    return None if bound is None or not task_here(project)[1] else bound.task
