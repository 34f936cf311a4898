"""List the sessions of this project, the one with the newest message first.

Secrets in titles and prompts are masked in all but text on a terminal.
"""

from argparse import ArgumentParser, Namespace
from datetime import UTC, datetime

from siding.app.place.project import require_project
from siding.app.sessions.sessions import as_row, rows, rows_without_secrets, short_ids
from siding.cli.formats import add_format, print_json
from siding.cli.globals import Context
from siding.cli.screen.screen import shorten
from siding.cli.screen.words import ago, size
from siding.cli.telling.masking import add_no_redact, is_redacted


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("-a", "--all", action="store_true", help="side conversations too")
    parser.add_argument("-n", "--limit", type=int, default=0, metavar="N", help="default: all")
    add_format(parser, "table", "json")
    add_no_redact(parser)


def run(arguments: Namespace, context: Context) -> int:
    project = require_project(context.app)
    found = rows(project, hidden=arguments.all)
    found = found[: arguments.limit] if arguments.limit > 0 else found
    if is_redacted(arguments, context.screen):
        found = rows_without_secrets(project, found)
    if arguments.format == "json":
        print_json(context.screen, [as_row(row) for row in found])
        return 0
    if not found:
        context.screen.note("no session yet; `siding session import FILE` brings one in")
        return 0
    names = short_ids(project)
    context.screen.table(
        ("ID", "CHANGED", "SIZE", "BRANCH", "TITLE"),
        [
            (
                names[row.id],
                ago(datetime.fromtimestamp(row.changed_at, UTC).isoformat()),
                size(row.size),
                row.listed.branch or "-",
                shorten(row.listed.title or row.listed.prompt, 70),
            )
            for row in found
        ],
    )
    return 0
