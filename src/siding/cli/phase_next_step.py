"""Go on by a step within the phase: the workspace is committed on the task's branch."""

from argparse import ArgumentParser, Namespace

from siding.app.phases import PhaseMove
from siding.cli.globals import Context
from siding.cli.phase_moves import add_move, run_move


def add_arguments(parser: ArgumentParser) -> None:
    add_move(parser, "what was done")


def run(arguments: Namespace, context: Context) -> int:
    return run_move(arguments, context, PhaseMove.NEXT_STEP)
