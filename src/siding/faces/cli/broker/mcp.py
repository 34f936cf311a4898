"""Serve the tools of an agent in a run: ask a person, checkpoint, phase, task, note.

It speaks the Model Context Protocol over its standard streams, and is started by the agent; `siding
run` tells Claude Code and Codex to. Any other client of the protocol can be told the same. It needs
the library `mcp`: pip install 'siding[mcp]'.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.globals import Context
from siding.faces.cli.screen.words import seconds_in
from siding.ground.errors import LibraryMissing, UsageError

if TYPE_CHECKING:
    from siding.broker.inside import Inside


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--patience",
        metavar="TIME",
        default="45s",
        help="how long a question waits before the agent is told to ask again (default: 45s)",
    )


def run(arguments: Namespace, context: Context) -> int:
    from siding.broker.inside import named_broker

    patience_s = seconds_in(arguments.patience)
    if not patience_s:
        raise UsageError(f"--patience {arguments.patience!r} is not a time", hint="45s or 1h")

    def broker() -> Inside:
        # Some agents give their servers nothing else of their environment.
        return named_broker(context.app)

    try:
        broker()
    except OSError:
        raise UsageError(
            "this is no part of a run, or its broker cannot be reached",
            hint="an agent that `siding run` starts has these tools",
        ) from None
    try:
        from siding.broker.tools import tools  # 0.8 s
    except ModuleNotFoundError:
        raise LibraryMissing(
            "the tools of an agent need the library `mcp`, which is not installed",
            hint="pip install 'siding[mcp]'",
        ) from None
    tools(broker, patience_s=patience_s).run()
    return 0
