"""End what runs: everything that a run started, whatever it did to its session and its signals.

RUN is a run's id (r7) or name; without one, the only run that lives in the task. Each process gets
SIGTERM and two seconds to tidy up, then SIGKILL. The run is recorded as interrupted, with its
output and changes. Of a run that has ended, what it left running is ended (`siding runs` shows it).

  siding stop
  siding stop r7 web
  siding stop --all
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.words import task_name
from siding.ground.errors import UsageError

if TYPE_CHECKING:
    from siding.running.end_left import EndedLeft


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("run", nargs="*", metavar="RUN", help="default: the only one that lives")
    parser.add_argument("-t", "--task", metavar="TASK", help="the task (default: this terminal's)")
    parser.add_argument(
        "--all", action="store_true", help="every run, and all that was left running"
    )
    parser.add_argument("--now", action="store_true", help="SIGKILL at once")
    parser.add_argument("--json", action="store_true", help="print the steps as JSON")


def run(arguments: Namespace, context: Context) -> int:
    from siding.faces.cli.telling.beside import tell_stopped
    from siding.record.place.project import require_project
    from siding.record.place.selection import select
    from siding.running.stop import stop

    if arguments.all and arguments.run:
        raise UsageError("--all ends every run; leave out the names, or --all")
    project = require_project(context.app)
    context.screen.use_colour(project.settings.color)
    found = stop(project, arguments.task, arguments.run, every=arguments.all, now=arguments.now)
    if arguments.json:
        steps = [each.step.line for each in found.runs if each.step is not None]
        print_json(context.screen, [*steps, *map(_left_record, found.left)])
        return 0
    tell_stopped(context.screen, found)
    if not found.runs and not found.left:
        name = task_name(select(project, arguments.task).name)
        context.screen.note(f"{name} · nothing runs in the task")
    return 0


def _left_record(left: EndedLeft) -> dict[str, object]:
    return {
        "run": left.run.id,
        "task_id": left.task.id,
        "left_running_ended": [each._asdict() for each in left.ended],
        "could_not_be_ended": [each._asdict() for each in left.stays],
    }
