"""Print a task that was brought back."""

from siding.faces.cli.screen.screen import Screen
from siding.tasks.reopen import Reopened


def tell_reopened(screen: Screen, done: Reopened) -> None:
    """Print the task, its workspace and what could not be brought back as it was."""
    screen.note(f"opened task {done.task.id} · {done.task.name} again", "green")
    if done.workspace is not None:
        screen.note(f"  workspace {done.workspace.path}")
    for note in done.notes:
        screen.note(f"  {note}")
    if not done.active:
        screen.note(f"  `siding task switch {done.task.id}` makes it the active one")
