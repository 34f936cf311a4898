"""The verbs `siding devices …`: phones and browsers that may answer in a person's name."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import Screen, inert
from siding.faces.cli.screen.table import print_table
from siding.faces.cli.screen.words import ago
from siding.faces.cli.verb import Verb

if TYPE_CHECKING:
    from siding.asking.devices.terminal import Pairing


def _list_options(parser: ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print them as JSON")


def _list(arguments: Namespace, context: Context) -> int:
    from siding.asking.devices.terminal import devices

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
    print_table(screen, ("NAME", "ID", "KEY", "PAIRED", "USED", "AT"), rows)
    return 0


LIST = Verb(
    """\
List the paired devices: a phone or a browser that may answer in a person's name.

`siding devices pair` pairs one, `siding devices remove` ends it, `siding devices log` tells what
they did.
""",
    _list_options,
    _list,
)


def _pair_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "name", nargs="?", default="", metavar="NAME", help="what to call it (default: it says)"
    )


def _pair(arguments: Namespace, context: Context) -> int:
    from siding.asking.devices.terminal import await_device, offer_pairing, withdraw
    from siding.record.place.project import require_project

    screen = context.screen
    pairing = offer_pairing(require_project(context.app), name=arguments.name)
    try:
        _show_code(screen, pairing)
        device = await_device(context.app, pairing)
    except BaseException:  # Ctrl-C, or nobody reads what is shown: the code must not stay good
        withdraw(context.app, pairing)
        raise
    screen.note(f"paired {inert(device.name)} ({device.kind}, {device.id})", "green")
    screen.note(f"`siding devices remove {device.id}` ends it")
    return 0


PAIR = Verb(
    """\
Pair a phone, another machine or this machine's browser, so that it may answer in your name.

Prints an address and a code, and waits. Open the address in the browser to be paired and type the
code: it is good once, for two minutes, and five wrong ones end it. The dashboard of the project has
to run (`siding ui`), and for another machine it has to be served (`siding ui --serve 8443`).
""",
    _pair_options,
    _pair,
)


def _show_code(screen: Screen, pairing: Pairing) -> None:
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


def _remove_options(parser: ArgumentParser) -> None:
    parser.add_argument("device", metavar="DEVICE", help="its name or its id")


def _remove(arguments: Namespace, context: Context) -> int:
    from siding.asking.devices.terminal import remove

    device = remove(context.app, arguments.device)
    context.screen.note(f"removed {inert(device.name)} ({device.id})", "green")
    return 0


REMOVE = Verb(
    """\
Remove a paired device: from now on it may do nothing, and what it has open ends.

DEVICE is its name or its id. Its file is moved aside, not deleted.
""",
    _remove_options,
    _remove,
)


_SHOWN = 20


def _log_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "-n",
        "--limit",
        type=int,
        default=_SHOWN,
        metavar="N",
        help=f"default: {_SHOWN}; 0 shows all",
    )
    parser.add_argument("--json", action="store_true", help="print the entries as JSON")


def _log(arguments: Namespace, context: Context) -> int:
    from siding.asking.devices.terminal import told

    screen = context.screen
    found = told(context.app, arguments.limit or sys.maxsize)
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
    print_table(screen, ("WHEN", "WHAT", "DEVICE", "PROJECT", "ABOUT"), rows)
    return 0


LOG = Verb(
    """\
Tell what paired devices did, and what was refused to them, in all projects; the newest last.""",
    _log_options,
    _log,
)
