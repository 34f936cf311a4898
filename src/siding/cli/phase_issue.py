"""Record something to come back to, with a commit of what is there."""

from argparse import ArgumentParser, Namespace

from siding.app.phases import PhaseMove
from siding.cli.globals import Context
from siding.cli.phase_moves import add_move, run_move


def add_arguments(parser: ArgumentParser) -> None:
    add_move(parser, "what is to be looked at")


def run(arguments: Namespace, context: Context) -> int:
    return run_move(arguments, context, PhaseMove.ISSUE)
