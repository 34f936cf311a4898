"""Print where a task's workspace is, for use in other commands: code "$(siding path)".

Without TASK it is that of the task that this terminal is about. --main prints your own checkout.
"""

from argparse import ArgumentParser, Namespace
from contextlib import suppress

from siding.faces.cli.globals import Context
from siding.ground.errors import SidingError, UsageError


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("task", nargs="?", metavar="TASK", help="id or name (default: the active)")
    parser.add_argument("--main", action="store_true", help="your own checkout")
    parser.add_argument(
        "--switch", action="store_true", help="and have this terminal be about TASK, as `cd` does"
    )


def run(arguments: Namespace, context: Context) -> int:
    from siding.record.place.project import require_project
    from siding.tasks.changes import switch
    from siding.tasks.whereabouts import main_path, workspace_path

    if arguments.main and arguments.task is not None:
        raise UsageError("--main is your own checkout, which belongs to no task")
    if arguments.main:
        place = main_path(context.app)
    else:
        project = require_project(context.app)
        place = workspace_path(project, arguments.task)
        if arguments.switch and arguments.task is not None:
            with suppress(SidingError):  # a closed task that kept its workspace can be looked at
                switch(project, arguments.task)
    # Written as bytes: the encoding of the terminal may not have every character of the path.
    context.screen.out.flush()
    context.screen.out.buffer.write(bytes(place) + b"\n")
    return 0
