"""Choose the active task: commands work on it when no task is named."""

from argparse import ArgumentParser, Namespace

from siding.app.life.changes import switch
from siding.app.place.project import require_project
from siding.cli.globals import Context


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("task", help="id or name")
    parser.add_argument("--force", action="store_true", help="even if another task blocks it")


def run(arguments: Namespace, context: Context) -> int:
    task = switch(require_project(context.app), arguments.task, force=arguments.force)
    context.screen.note(f"active task: {task.id} · {task.name}")
    return 0
