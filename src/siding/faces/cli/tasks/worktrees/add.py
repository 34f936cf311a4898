"""Give a planned task a workspace. `siding task reopen` brings a removed workspace back."""

from argparse import ArgumentParser, Namespace

from siding.faces.cli.globals import Context


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("task", nargs="?", help="id or name (default: this terminal's)")
    parser.add_argument("--base", metavar="REF", help="start from this commit")
    parser.add_argument("--carry", action="store_true", help="take your uncommitted changes along")
    parser.add_argument("--force", action="store_true", help="even if another task blocks it")


def run(arguments: Namespace, context: Context) -> int:
    from siding.faces.cli.telling.started import say_started
    from siding.record.place.project import require_project
    from siding.tasks.start import add_workspace

    project = require_project(context.app)
    started = add_workspace(
        project,
        arguments.task,
        base=arguments.base,
        carry=arguments.carry,
        force=arguments.force,
    )
    say_started(context.screen, started)
    return 0
