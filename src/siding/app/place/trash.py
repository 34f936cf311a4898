"""Names in the project's trash. Files that are removed stay there until `siding gc`."""

from siding.app.place.project import Project
from siding.ids import TaskId


def fresh_trash(project: Project, task_id: TaskId) -> str:
    """Return an unused path, relative to the project: the task's id, the time, random digits."""
    stamp = project.app.clock.now().strftime("%Y%m%dT%H%M%S")
    return f"trash/{task_id}-{stamp}-{project.app.random_bytes(3).hex()}"
