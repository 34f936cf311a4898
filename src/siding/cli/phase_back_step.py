"""Record that a step has to be done again; files stay as they are (`siding rollback` goes back)."""

from argparse import ArgumentParser, Namespace

from siding.app.phases import PhaseMove
from siding.cli.globals import Context
from siding.cli.phase_moves import add_move, run_move


def add_arguments(parser: ArgumentParser) -> None:
    add_move(parser, "why")


def run(arguments: Namespace, context: Context) -> int:
    return run_move(arguments, context, PhaseMove.BACK_STEP)
