"""Show what runs in this project: each run with its task, its last line, and whom it waits for.

A run is a command that `siding run` started. Any number of them may live in a task at once: an
agent, a development server, the tests. A run that has ended is a step: `siding log`.
"""

from argparse import ArgumentParser, Namespace

from siding.app.place.project import require_project
from siding.app.place.selection import select
from siding.app.waiting.running import RunningRow, running
from siding.cli.formats import add_format, print_json
from siding.cli.globals import Context
from siding.cli.screen.screen import inert, shorten
from siding.cli.screen.words import ago

HEADER = ("RUN", "TASK", "AGENT", "STARTED", "COMMAND", "LAST LINE", "WAITS FOR")


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("-t", "--task", metavar="TASK", help="of this task only")
    add_format(parser, "table", "json")


def run(arguments: Namespace, context: Context) -> int:
    project = require_project(context.app)
    screen = context.screen
    screen.use_colour(project.settings.color)
    task = None if arguments.task is None else select(project, arguments.task).id
    found = running(project, task)
    if arguments.format == "json":
        print_json(screen, [row._asdict() for row in found])
        return 0
    if not found:
        screen.note("nothing runs; `siding run -- COMMAND` starts something")
        return 0
    screen.table(HEADER, [_cells(row) for row in found])
    return 0


def _cells(row: RunningRow) -> tuple[str, ...]:
    waits = f"you: siding decide answer {row.waits_for}" if row.waits_for else "-"
    return (
        row.run,
        shorten(inert(row.task_name), 24),
        row.agent or "-",
        ago(row.started_at),
        shorten(inert(row.command), 40),
        shorten(inert(row.last_line), 40) or "-",
        waits,
    )
