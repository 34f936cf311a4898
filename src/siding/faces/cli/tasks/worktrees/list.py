"""List the workspaces of this project: where the work is done."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from siding.faces.cli.formats import add_format, print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.words import ago


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("-a", "--all", action="store_true", help="removed ones too")
    add_format(parser, "table", "json")


def run(arguments: Namespace, context: Context) -> int:
    from siding.record.place.project import require_project

    found = [
        each
        for each in require_project(context.app).registry.all()
        if arguments.all or each.status.value != "removed"
    ]
    if arguments.format == "json":
        print_json(context.screen, [each._asdict() for each in found])
        return 0
    if not found:
        context.screen.note("no workspace; `siding task start NAME` makes one")
        return 0
    context.screen.table(
        ("TASK", "STATUS", "CREATED", "BRANCH", "PATH"),
        [
            (
                each.task_id,
                each.status.value + ("" if _there(each.path, each.status.value) else " (missing)"),
                ago(each.created_at),
                each.branch,
                each.path,
            )
            for each in found
        ],
    )
    return 0


def _there(path: str, status: str) -> bool:
    return status == "removed" or Path(path).is_dir()
