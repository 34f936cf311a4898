"""Begin a pass of the task through its phases, in any of them, with a commit of what is there.

A pass that is not in its last phase goes on until --again ends it; its history is kept.
"""

from argparse import ArgumentParser, Namespace

from siding.app.phases import PhaseMove
from siding.cli.globals import Context
from siding.cli.phase_moves import add_move, run_move


def add_arguments(parser: ArgumentParser) -> None:
    add_move(parser, "what the task is", to_phase="the phase to begin in")
    parser.add_argument("--again", action="store_true", help="end the pass that is under way")


def run(arguments: Namespace, context: Context) -> int:
    return run_move(arguments, context, PhaseMove.START)
