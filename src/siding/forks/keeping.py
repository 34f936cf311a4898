"""Make a fork a task of the board, with a branch."""

from siding.forks.children import Parentage, with_parentage
from siding.ground.errors import UsageError
from siding.record.place.project import Project
from siding.record.tasks.task import Task
from siding.starting.start_from import start_from
from siding.tasks.start import Started, StartRequest


def keep(project: Project, fork: Task, name: str = "", *, switch: bool = False) -> Started:
    """Start a task of the board from the present state of a fork.

    As with every task that starts from another one, the change of the fork and that of its parent
    are the new task's: its diff shows them, an apply applies them. The fork stays as it is, and
    names the task that it became. Raises the errors of `start_from`.
    """
    parentage = Parentage.of(fork)
    if parentage is None:
        raise UsageError(f"task {fork.name!r} is on the board already")
    request = StartRequest(name=name or fork.name, switch=switch)
    started = start_from(project, request, f"task:{fork.id}")
    current = project.tasks.load(fork.id)
    before = Parentage.of(current) or parentage
    project.tasks.save(with_parentage(current, before._replace(kept=started.task.id)))
    return started
