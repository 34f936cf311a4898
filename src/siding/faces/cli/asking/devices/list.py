"""List the paired devices: a phone or a browser that may answer in a person's name.

`siding devices pair` pairs one, `siding devices remove` ends it, `siding devices log` tells what
they did.
"""

from argparse import ArgumentParser, Namespace

from siding.asking.devices.terminal import devices
from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import inert
from siding.faces.cli.screen.words import ago


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print them as JSON")


def run(arguments: Namespace, context: Context) -> int:
    screen = context.screen
    found = devices(context.app)
    for problem in found.problems:
        screen.warn(inert(problem))
    if arguments.json:
        print_json(screen, [each._asdict() for each in found.rows])
        return 0
    if not found.rows:
        screen.note("no device is paired; `siding devices pair` pairs one")
        return 0
    rows = [
        (
            inert(each.name),
            each.id,
            each.kind,
            ago(each.created_at),
            ago(each.last_used_at) if each.last_used_at else "-",
            inert(each.origin),
        )
        for each in found.rows
    ]
    screen.table(("NAME", "ID", "KEY", "PAIRED", "USED", "AT"), rows)
    return 0
