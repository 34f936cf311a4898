"""Tell what paired devices did, and what was refused to them, in all projects; the newest last."""

from argparse import ArgumentParser, Namespace

from siding.asking.devices.terminal import told
from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import inert
from siding.faces.cli.screen.words import ago

_SHOWN = 20


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "-n", "--limit", type=int, default=_SHOWN, metavar="N", help=f"default: {_SHOWN}"
    )
    parser.add_argument("--json", action="store_true", help="print the entries as JSON")


def run(arguments: Namespace, context: Context) -> int:
    screen = context.screen
    found = told(context.app, arguments.limit)
    if arguments.json:
        print_json(screen, found)
        return 0
    if not found:
        screen.note("no device was paired yet")
        return 0
    rows = [
        (
            ago(str(each.get("at", ""))),
            inert(str(each.get("event", "")).removeprefix("device.")),
            inert(str(each.get("name") or each.get("device") or "-")),
            inert(str(each.get("project") or "-")),
            inert(str(each.get("reason") or each.get("path") or "-")),
        )
        for each in found
    ]
    screen.table(("WHEN", "WHAT", "DEVICE", "PROJECT", "ABOUT"), rows)
    return 0
