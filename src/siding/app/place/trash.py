"""Names in the project's trash, where what is taken away waits until `siding gc`."""

from siding.app.place.project import Project
from siding.ids import TaskId


def fresh_trash(project: Project, task_id: TaskId) -> str:
    """Return a name that nobody has, relative to the project: the task's id and this moment."""
    stamp = project.app.clock.now().strftime("%Y%m%dT%H%M%S")
    return f"trash/{task_id}-{stamp}-{project.app.random_bytes(3).hex()}"
