"""Show the newest lifecycle events, oldest first; other programs can follow `events.jsonl`."""

from argparse import ArgumentParser, Namespace

from siding.faces.cli.formats import add_format, print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.words import local_time
from siding.ground.errors import UsageError


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "-n", "--limit", type=int, default=20, metavar="N", help="default: 20; 0 shows all"
    )
    add_format(parser, "table", "json")


def run(arguments: Namespace, context: Context) -> int:
    from siding.record.place.project import require_project

    if arguments.limit < 0:
        raise UsageError(f"--limit {arguments.limit} is negative", hint="0 shows every event")
    found = require_project(context.app).events.newest(arguments.limit or None)
    if arguments.format == "json":
        print_json(context.screen, found)
        return 0
    if not found:
        context.screen.note("nothing has happened yet")
        return 0
    context.screen.table(
        ("WHEN", "EVENT", "TASK", "WORKTREE", ""),
        [
            (
                local_time(str(each.get("at", ""))),
                str(each.get("event", "")),
                _inside(each.get("task"), "id"),
                _inside(each.get("worktree"), "name"),
                str(each.get("error") or _inside(each.get("step"), "id")),
            )
            for each in found
        ],
    )
    return 0


def _inside(value: object, field: str) -> str:
    """Return a field of an object in an event, or the value itself: a move of the phases has the
    number of its step there."""
    if isinstance(value, dict):
        return str(value.get(field, ""))
    return "" if value is None else str(value)
