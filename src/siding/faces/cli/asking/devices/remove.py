"""Remove a paired device: from now on it may do nothing, and what it has open ends.

DEVICE is its name or its id. Its file is moved aside, not deleted.
"""

from argparse import ArgumentParser, Namespace

from siding.asking.devices.terminal import remove
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import inert


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("device", metavar="DEVICE", help="its name or its id")


def run(arguments: Namespace, context: Context) -> int:
    device = remove(context.app, arguments.device)
    context.screen.note(f"removed {inert(device.name)} ({device.id})", "green")
    return 0
