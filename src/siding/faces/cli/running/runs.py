"""Show what runs in this project, or with --all in every one.

Each run has its task, the last line it printed, and whom it waits for. Below a run that has ended
is what it left running; `siding stop RUN` ends that.

A run is a command that `siding run` started. Any number of them may live in a task at once: an
agent, a development server, the tests. A run that has ended is a step: `siding log`.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.formats import add_format, print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import inert, shorten
from siding.faces.cli.screen.words import ago, seconds_ago
from siding.ground.errors import UsageError

if TYPE_CHECKING:
    from siding.feed.running import LeftProcess, LeftRow, RunningRow


HEADER = ("RUN", "TASK", "AGENT", "STARTED", "COMMAND", "LAST LINE", "WAITS FOR")


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("-t", "--task", metavar="TASK", help="of this task only")
    parser.add_argument("-a", "--all", action="store_true", help="of all projects")
    add_format(parser, "table", "json")


def run(arguments: Namespace, context: Context) -> int:
    from siding.feed.running import left_running, running
    from siding.record.place.project import require_project
    from siding.record.place.selection import select
    from siding.record.unfinished.live_workflows import live_workflows

    screen = context.screen
    if arguments.all:
        return _all(arguments, context)
    project = require_project(context.app)
    screen.use_colour(project.settings.color)
    task = None if arguments.task is None else select(project, arguments.task).id
    found = _sorted([*running(project, task), *left_running(project, task)])
    if arguments.format == "json":
        print_json(screen, [_record(row) for row in found])
        return 0
    flows = list(live_workflows(project, task))
    if not found and not flows:
        screen.note("nothing runs; `siding run -- COMMAND` starts something")
        return 0
    if found:
        screen.table(HEADER, [cells for row in found for cells in _rows(row)])
    for flow in flows:
        shows = f"`siding workflow watch {flow.run_id}` shows it"
        screen.note(f"the workflow {inert(flow.name)} runs in task {flow.task_id}; {shows}")
    return 0


def _all(arguments: Namespace, context: Context) -> int:
    from siding.feed.today import all_running

    if arguments.task is not None:
        raise UsageError("--all is of all projects; leave out --task, or --all")
    screen = context.screen
    found, problems = all_running(context.app)
    if arguments.format == "json":
        print_json(screen, [{"project": each.project, **_record(each.row)} for each in found])
        return 0
    for problem in problems:
        screen.detail(inert(problem))
    if not found:
        screen.note("nothing runs in any project")
        return 0
    rows = [(inert(each.project), *cells) for each in found for cells in _rows(each.row)]
    screen.table(("PROJECT", *HEADER), rows)
    return 0


def _sorted(rows: list[RunningRow | LeftRow]) -> list[RunningRow | LeftRow]:
    return sorted(rows, key=lambda row: row.started_at)


def _record(row: RunningRow | LeftRow) -> dict[str, object]:
    from siding.feed.running import LeftRow

    return row.as_record() if isinstance(row, LeftRow) else row._asdict()


def _rows(row: RunningRow | LeftRow) -> list[tuple[str, ...]]:
    """Return the row of a run; of one that has ended, with a row for each process below it."""
    from siding.feed.running import RunningRow

    if isinstance(row, RunningRow):
        return [_cells(row)]
    name = shorten(inert(row.task_name), 24)
    command, started = shorten(inert(row.command), 40), ago(row.started_at)
    first = (row.run, name, "-", started, command, "ended, left running:", "-")
    return [first, *(_process_cells(each, name) for each in row.processes)]


def _process_cells(process: LeftProcess, task_name: str) -> tuple[str, ...]:
    command = shorten(inert(process.command), 40)
    return ("", task_name, "-", seconds_ago(process.age_s), command, f"process {process.pid}", "-")


def _cells(row: RunningRow) -> tuple[str, ...]:
    waits = "-"
    if row.waits_for:
        waits = f"you: siding decide answer {row.waits_for}"
    elif row.waits:
        waits = f"you: {shorten(inert(row.waits), 60)}"
    return (
        row.run,
        shorten(inert(row.task_name), 24),
        row.agent or "-",
        ago(row.started_at),
        shorten(inert(row.command), 40),
        shorten(inert(row.last_line), 40) or "-",
        waits,
    )
