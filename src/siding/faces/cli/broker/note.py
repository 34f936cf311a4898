"""Write a note into the record of the run that this command is part of.

For agents and scripts inside `siding run`, in a sandbox or not: why something was done, what was
tried. `siding show` prints the notes of a run. Outside of a run a checkpoint says such things:
`siding checkpoint -m 'why'`.
"""

import sys
from argparse import ArgumentParser, Namespace

from siding.faces.cli.globals import Context
from siding.ground.errors import UsageError


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("text", help="the note, or - for standard input")


def run(arguments: Namespace, context: Context) -> int:
    from siding.broker.inside import broker_of

    inside = broker_of(context.app)
    if inside is None:
        raise UsageError(
            "this is no part of a run, or its broker cannot be reached",
            hint="outside of a run, `siding checkpoint -m 'why'` writes something down",
        )
    inside.ask("note", text=_text(arguments.text))
    context.screen.note("noted")
    return 0


def _text(given: str) -> str:
    return sys.stdin.read() if given == "-" else given
