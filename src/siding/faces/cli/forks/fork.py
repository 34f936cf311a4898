"""Start a task from the state that another one is in, or was in after a step.

The new task has the files to the byte, the commits, what is staged, and a branch of its own: try
something else without giving up what there is. It is `siding task start NAME --from TASK@STEP`.
Workflows make forks of another kind by the hundred, which are on no board: see `siding task list
--children`.
"""

from argparse import ArgumentParser, Namespace

from siding.faces.cli.globals import Context


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", help="of the new task (default: the old one's, again)")
    parser.add_argument("--step", default="", help="the state after this step, or base")
    parser.add_argument("-t", "--task", help="of this task (default: this terminal's)")
    parser.add_argument("--switch", action="store_true", help="make it the active task")


def run(arguments: Namespace, context: Context) -> int:
    from siding.faces.cli.telling.started import say_started
    from siding.record.place.project import require_project
    from siding.record.place.selection import select
    from siding.starting.start_from import start_from
    from siding.tasks.start import StartRequest

    project = require_project(context.app)
    context.screen.use_colour(project.settings.color)
    task = select(project, arguments.task)
    after = f"@{arguments.step}" if arguments.step else ""
    request = StartRequest(name=arguments.name or f"{task.name} (fork)", switch=arguments.switch)
    started = start_from(project, request, f"task:{task.id}{after}")
    say_started(context.screen, started)
    if context.screen.quiet:
        context.screen.print(started.task.id)
    return 0
