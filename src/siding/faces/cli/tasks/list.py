"""Show the tasks of this project, oldest first. `*` marks the one that this terminal is about."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.globals import Context, add_format
from siding.faces.cli.screen.screen import shorten
from siding.faces.cli.screen.table import print_table
from siding.faces.cli.screen.words import ago
from siding.ground.errors import counted

if TYPE_CHECKING:
    from siding.feed.board import TaskRow
    from siding.record.place.project import Project


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("-a", "--all", action="store_true", help="closed tasks too")
    parser.add_argument(
        "--children", nargs="?", const="", metavar="TASK", help="the forks of workflows instead"
    )
    parser.add_argument("--group", help="the forks of this group instead")
    add_format(parser, "table", "json")


def run(arguments: Namespace, context: Context) -> int:
    from siding.feed.board import listed
    from siding.record.place.project import require_project

    project = require_project(context.app)
    if arguments.children is not None or arguments.group is not None:
        return _list_forks(project, arguments, context)
    found, unreadable = listed(project, include_closed=arguments.all)
    if unreadable:
        context.screen.warn(
            f"{counted(len(unreadable), 'task')} cannot be read: {', '.join(unreadable)}; "
            "`siding doctor` says why"
        )
    if arguments.format == "json":
        from siding.faces.cli.formats import print_json
        from siding.feed.task_rows import task_records

        print_json(context.screen, task_records(project, found))
        return 0
    if not found:
        context.screen.note("no open task; `siding task start NAME` makes one")
        return 0
    print_table(
        context.screen,
        ("", "ID", "NAME", "STATUS", "STEPS", "LAST", "UPDATED"),
        [_cells(row) for row in found],
    )
    return 0


def _list_forks(project: Project, arguments: Namespace, context: Context) -> int:
    from siding.forks.parentage import fork_rows
    from siding.record.place.named_task import resolve

    parent = resolve(project, arguments.children).id if arguments.children else None
    rows = fork_rows(project, parent=parent, group=arguments.group, closed=arguments.all)
    if arguments.format == "json":
        from siding.faces.cli.formats import print_json

        print_json(context.screen, [row._asdict() for row in rows])
        return 0
    if not rows:
        context.screen.note(
            "no fork" if arguments.all else "no fork has a workspace; --all: closed"
        )
        return 0
    print_table(
        context.screen,
        ("ID", "GROUP", "CALL", "OF", "STATUS", "STEPS", "UPDATED"),
        [
            (
                row.id,
                shorten(row.group, 24),
                shorten(row.call, 32),
                f"{row.parent}@{row.step}",
                row.status + (" (brought back)" if row.applied else ""),
                str(row.steps),
                ago(row.updated_at),
            )
            for row in rows
        ],
    )
    return 0


def _cells(row: TaskRow) -> tuple[str, ...]:
    status = "running" if row.running else row.status
    if row.workspace in ("kept", "removed") and row.status != "closed":
        status += f" ({row.workspace})"
    if row.blocked and row.status != "closed":
        status += " (blocked)"
    last = shorten(row.last_command, 32) if row.last_command else "-"
    if row.last_status not in ("", "completed"):
        last += f" [{row.last_status}]"
    return (
        "*" if row.active else "",
        row.id,
        shorten(row.name, 40),
        status,
        str(row.steps),
        last,
        ago(row.updated_at),
    )
