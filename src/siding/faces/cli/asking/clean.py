"""Move the records of closed decisions to the trash; open ones and the newest always stay."""

from argparse import ArgumentParser, Namespace
from datetime import timedelta

from siding.asking.answer import clean
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.words import counted, seconds_in
from siding.ground.errors import UsageError
from siding.record.place.project import require_project


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--keep", type=int, metavar="N", help="keep the newest N closed ones")
    parser.add_argument(
        "--older-than", metavar="TIME", help="only those closed before, such as 30d"
    )


def run(arguments: Namespace, context: Context) -> int:
    if arguments.keep is None and arguments.older_than is None:
        raise UsageError("what should stay?", hint="--keep 50, --older-than 30d, or --keep 0")
    if arguments.keep is not None and arguments.keep < 0:
        raise UsageError(f"--keep {arguments.keep} is less than nothing", hint="--keep 50")
    before = None
    if arguments.older_than is not None:
        seconds = seconds_in(arguments.older_than)
        if seconds is None:
            raise UsageError(
                f"--older-than {arguments.older_than!r} is not a time", hint="30d, 12h"
            )
        before = (context.app.clock.now() - timedelta(seconds=seconds)).isoformat()
    moved = clean(require_project(context.app), keep=arguments.keep or 0, before=before)
    context.screen.note(f"moved {counted(len(moved), 'record')} to the trash")
    return 0
