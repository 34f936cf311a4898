"""Go on to the phase that follows, once the gates of the present one hold.

A gate is a command that must exit 0 in the workspace, or a decision that must be answered. When
one does not hold, nothing is moved.
"""

from argparse import ArgumentParser, Namespace

from siding.app.phases import PhaseMove
from siding.cli.globals import Context
from siding.cli.phase_moves import add_move, run_move


def add_arguments(parser: ArgumentParser) -> None:
    add_move(parser, "what was done", to_phase="the phase that follows")


def run(arguments: Namespace, context: Context) -> int:
    return run_move(arguments, context, PhaseMove.NEXT_PART)
