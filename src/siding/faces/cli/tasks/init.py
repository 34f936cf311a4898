"""Make this repository a project. Other commands do it on first use.

Running it again changes nothing.
"""

from argparse import ArgumentParser, Namespace

from siding.faces.cli.globals import Context


def add_arguments(parser: ArgumentParser) -> None:
    del parser


def run(arguments: Namespace, context: Context) -> int:
    from siding.record.place.project import ensure_project

    del arguments
    project, made = ensure_project(context.app)
    word = "made a project of" if made else "is a project already:"
    context.screen.note(f"{word} {project.paths.root}")
    context.screen.note(f"  its records are in {project.layout.root}")
    return 0
