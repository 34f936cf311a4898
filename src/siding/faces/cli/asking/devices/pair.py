"""Pair a phone, another machine or this machine's browser, so that it may answer in your name.

Prints an address and a code, and waits. Open the address in the browser to be paired and type the
code: it is good once, for two minutes, and five wrong ones end it. The dashboard of the project has
to run (`siding ui`), and for another machine it has to be served (`siding ui --serve 8443`).
"""

import sys
from argparse import ArgumentParser, Namespace

from siding.asking.devices.terminal import Pairing, await_device, offer_pairing, withdraw
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import Screen, inert
from siding.record.place.project import require_project


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", default="", help="what to call it (default: it says)")


def run(arguments: Namespace, context: Context) -> int:
    screen = context.screen
    pairing = offer_pairing(require_project(context.app), name=arguments.name)
    try:
        _show(screen, pairing)
        device = await_device(context.app, pairing)
    except BaseException:  # Ctrl-C, or nobody reads what is shown: the code must not stay good
        withdraw(context.app, pairing)
        raise
    screen.note(f"paired {inert(device.name)} ({device.kind}, {device.id})", "green")
    screen.note(f"`siding devices remove {device.id}` ends it")
    return 0


def _show(screen: Screen, pairing: Pairing) -> None:
    screen.print(f"address  {pairing.address}")
    screen.print(f"code     {pairing.code}")
    if pairing.fingerprint:
        screen.print(f"SHA-256  {pairing.fingerprint}")
        screen.note("your browser warns of the certificate; go on only if it shows this SHA-256")
    if pairing.port:
        keeps = f"`siding ui --port {pairing.port}`"
        screen.note(f"a browser keeps its key for one address: start the dashboard with {keeps}")
    screen.note(f"the code is good once, for {pairing.good_for_s} seconds; Ctrl-C takes it back")
    sys.stdout.flush()  # a program that started us reads the address from a pipe
