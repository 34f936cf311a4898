"""Print how to write a workflow, and when one is worth it: for agents, and for people.

An agent in a run gets it by the tool `workflow_guide`; any other one you can give it as it is.
"""

from argparse import ArgumentParser, Namespace

from siding.faces.cli.globals import Context
from siding.workflows.acts.scripts import guide


def add_arguments(parser: ArgumentParser) -> None:
    del parser


def run(arguments: Namespace, context: Context) -> int:
    del arguments
    context.screen.print(guide().rstrip("\n"))
    return 0
