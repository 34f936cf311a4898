"""Bring a closed or deleted task back, with its workspace as it was: ignored files, nested
repositories, staged changes and local commits included.
"""

from argparse import ArgumentParser, Namespace

from siding.faces.cli.globals import Context


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("task", help="id or name")
    parser.add_argument("--wait", action="store_true", help="wait while the task is busy")


def run(arguments: Namespace, context: Context) -> int:
    from siding.faces.cli.telling.reopening import tell_reopened
    from siding.record.place.project import require_project
    from siding.tasks.reopen import reopen

    project = require_project(context.app)
    tell_reopened(context.screen, reopen(project, arguments.task, wait=arguments.wait))
    return 0
