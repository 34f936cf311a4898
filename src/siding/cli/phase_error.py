"""Record what went wrong, with a commit of what is there. Recording it is no failure: exit 0."""

from argparse import ArgumentParser, Namespace

from siding.app.phases import PhaseMove
from siding.cli.globals import Context
from siding.cli.phase_moves import add_move, run_move


def add_arguments(parser: ArgumentParser) -> None:
    add_move(parser, "what went wrong")


def run(arguments: Namespace, context: Context) -> int:
    return run_move(arguments, context, PhaseMove.ERROR)
