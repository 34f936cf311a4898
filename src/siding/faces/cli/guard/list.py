"""List the rules: what each does, and which file made it so. Those that are off are listed too."""

from argparse import ArgumentParser, Namespace

from siding.faces.cli.formats import add_format, print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.pager import paged

HEADER = ("RULE", "SET", "ACTION", "FROM", "WHAT IT MATCHES")


def add_arguments(parser: ArgumentParser) -> None:
    add_format(parser, "table", "json")


def run(arguments: Namespace, context: Context) -> int:
    from siding.guard.views import rules

    screen = context.screen
    in_force, listed = rules(context.app)
    rows = [
        (each.rule.name, each.rule.group, each.action, each.source, each.rule.reason)
        for each in listed
    ]
    if arguments.format == "json":
        keys = ("rule", "set", "action", "from", "reason")
        print_json(screen, [dict(zip(keys, row, strict=True)) for row in rows])
        return 0
    with paged(screen):
        screen.table(HEADER, rows)
    if in_force.policy.broken:
        screen.warn(f"everything is blocked: {in_force.policy.broken}")
    return 0
