"""Finish a task. Its workspace is moved into the trash, whole, unless --keep leaves it in place.

Work that is nowhere else is not put out of sight without --force; even then it can be brought back.
"""

from argparse import ArgumentParser, Namespace

from siding.app.life.attempts import select_for
from siding.app.life.close import Fate, close_task
from siding.app.place.project import require_project
from siding.cli.globals import Context


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("task", nargs="?", help="id or name (default: the active one)")
    fate = parser.add_mutually_exclusive_group()
    fate.add_argument("--keep", action="store_true", help="leave the workspace where it is")
    fate.add_argument("--delete", action="store_true", help="move the task's records away too")
    parser.add_argument("--force", action="store_true", help="even if it holds unapplied work")


def run(arguments: Namespace, context: Context) -> int:
    project = require_project(context.app)
    fate = Fate.KEEP if arguments.keep else Fate.DELETE if arguments.delete else Fate.REMOVE
    task = select_for(project, "task.close", arguments.task)
    closed = close_task(project, task, fate=fate, force=arguments.force)
    word = "deleted" if fate is Fate.DELETE else "closed"
    context.screen.note(f"{word} task {closed.task.id} · {closed.task.name}")
    if closed.workspace is not None:
        if fate is Fate.KEEP:
            context.screen.note(f"  workspace kept: {closed.workspace.path}")
        elif closed.workspace.trash is not None:
            context.screen.note(
                f"  workspace moved to {project.layout.root / closed.workspace.trash}"
            )
        context.screen.note(f"  branch stays: {closed.workspace.branch}")
    return 0
