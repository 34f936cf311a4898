"""Show what changed in a workspace since its base, and since its last step."""

from argparse import ArgumentParser, Namespace

from siding.faces.cli.formats import add_format, print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import inert
from siding.faces.cli.screen.words import changes, counted


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("task", nargs="?", help="id or name (default: this terminal's)")
    add_format(parser, "text", "json")


def run(arguments: Namespace, context: Context) -> int:
    from siding.record.place.project import require_project
    from siding.record.recording.difference import difference
    from siding.record.recording.status import status

    project = require_project(context.app)
    found = status(project, arguments.task)
    screen = context.screen
    if found.workspace is None:
        screen.note(f"task {found.task.name} has no workspace")
        return 0
    stat = None
    if found.present:
        with difference(project, found.task.id, at=None, start=None, end=None) as changed:
            stat = changed.stat_record()
    if arguments.format == "json":
        print_json(
            screen,
            {
                **found.workspace._asdict(),
                "present": found.present,
                "since_base": stat,
                "unrecorded_files": found.unrecorded,
            },
        )
        return 0
    missing = "" if found.present or found.workspace.status.value == "removed" else ", missing"
    screen.print(inert(f"{found.workspace.path} ({found.workspace.status.value}{missing})"))
    screen.print(inert(f"branch {found.workspace.branch}"))
    if stat is not None:
        total = changes(stat["files"], stat["additions"], stat["deletions"])
        screen.print(f"since the base: {total}")
        for name in stat.get("file_list", []):
            screen.print(f"  {inert(name)}")
        if found.unrecorded is None and (found.untold or found.problems):
            why = found.untold or found.problems[-1]
            screen.print(inert(f"not recorded yet: cannot be told: {why}"))
        if found.unrecorded:
            screen.print(f"not recorded yet: {counted(found.unrecorded, 'file')}")
    return 0
