"""Record that a workspace stays, as a choice somebody made."""

from argparse import ArgumentParser, Namespace

from siding.faces.cli.globals import Context


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("task", nargs="?", help="id or name (default: this terminal's)")


def run(arguments: Namespace, context: Context) -> int:
    from siding.record.place.project import require_project
    from siding.record.workspaces.attempts import select_for
    from siding.tasks.close import keep_workspace

    project = require_project(context.app)
    kept = keep_workspace(project, select_for(project, "worktree.keep", arguments.task))
    context.screen.note(f"kept {kept.path}")
    return 0
