"""What a person can do where no task is current."""

from shlex import quote

from siding.record.place.project import Project
from siding.record.tasks.task import TaskState


def ways_on(project: Project) -> str:
    """Return which commands choose or make a task where none is current.

    An open task that is the only one is named: it is most often the one that is meant.
    """
    found = [task for task in project.tasks.readable() if task.status is not TaskState.CLOSED]
    makes = "`siding task start NAME` makes one"
    if not found:
        return makes
    if len(found) == 1:
        return f"`siding switch {quote(found[0].name)}` goes on with the one that is open; {makes}"
    return (
        f"`siding switch TASK` chooses one of the {len(found)} that are open, {makes}; "
        "`siding task list` shows them"
    )
