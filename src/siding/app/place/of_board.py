"""Refuse acts that are for tasks of the board in a fork, which is none and has no branch."""

from siding.errors import UsageError
from siding.ids import is_fork
from siding.tasks.task import Task


def require_of_board(task: Task, act: str) -> Task:
    """Return the task; raise UsageError if it is a fork. `act` is what is refused, as a command."""
    if is_fork(task.id):
        raise UsageError(
            f"{task.id} is a fork: {act} is for tasks of the board",
            hint=f"`siding task bring-back {task.id}` brings its change onto the task that it was "
            f"made from, `siding task keep {task.id}` makes it a task of the board, `siding task "
            f"drop {task.id}` gives its workspace back",
        )
    return task
