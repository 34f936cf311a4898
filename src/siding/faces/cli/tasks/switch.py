"""Choose the task that this terminal is about: commands work on it when no task is named.

Each terminal keeps its own; the panes of tmux are terminals of their own. Where no terminal is, as
in a script, it becomes the active task of the project. Without TASK it is chosen from a list; `-`
is the task that this terminal was about before.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.globals import Context
from siding.faces.cli.screen.words import ago, counted
from siding.ground.errors import NoActiveTask

if TYPE_CHECKING:
    from siding.feed.tasks import TaskRow
    from siding.record.place.project import Project


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("task", nargs="?", metavar="TASK", help="id or name; - for the one before")
    parser.add_argument("--force", action="store_true", help="even if another task blocks it")


def run(arguments: Namespace, context: Context) -> int:
    from siding.record.place.project import require_project
    from siding.tasks.changes import switch

    project = require_project(context.app)
    named = arguments.task or _picked(project, context)
    done = switch(project, named, force=arguments.force)
    of_what = "this terminal is about" if done.is_bound else "active task:"
    context.screen.note(f"{of_what} {done.task.id} · {done.task.name}")
    return 0


def _picked(project: Project, context: Context) -> str:
    """Return the id of the task that the person chooses."""
    from siding.faces.cli.screen.pick import pick_one
    from siding.feed.tasks import listed

    rows = sorted(
        listed(project, include_closed=False).rows, key=lambda row: row.updated_at, reverse=True
    )
    if not rows:
        raise NoActiveTask("no task is open here", hint="`siding task start NAME` makes one")
    return rows[pick_one(context.screen, [_line(row) for row in rows], "which task")].id


def _line(row: TaskRow) -> str:
    here = "*" if row.active else " "
    return f"{here} {row.name}  ({row.id}, {counted(row.steps, 'step')}, {ago(row.updated_at)})"
