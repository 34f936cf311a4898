"""The verbs of a run's inside: tools by MCP, notes, and what answers them."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.globals import Context
from siding.faces.cli.screen.words import seconds_in
from siding.faces.cli.verb import Verb
from siding.ground.errors import LibraryMissing, UsageError

if TYPE_CHECKING:
    from siding.broker.inside import Inside


def _mcp_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--patience",
        metavar="TIME",
        default="45s",
        help="how long a question waits before the agent is told to ask again (default: 45s)",
    )


def _mcp(arguments: Namespace, context: Context) -> int:
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
        from siding.ground.installation import adding

        raise LibraryMissing(
            "the tools of an agent need the library `mcp`, which is not installed",
            hint=adding("mcp"),
        ) from None
    tools(broker, patience_s=patience_s).run()
    return 0


MCP = Verb(
    """\
Serve the tools of an agent in a run: ask a person, checkpoint, phase, task, note.

It speaks the Model Context Protocol over its standard streams, and is started by the agent; `siding
run` tells Claude Code and Codex to. Any other client of the protocol can be told the same. It needs
the library `mcp`, which comes with the extra `mcp`.
""",
    _mcp_options,
    _mcp,
)


def _note_options(parser: ArgumentParser) -> None:
    parser.add_argument("text", metavar="TEXT", help="the note, or - for standard input")


def _note(arguments: Namespace, context: Context) -> int:
    from siding.broker.inside import broker_of

    inside = broker_of(context.app)
    if inside is None:
        raise UsageError(
            "this is no part of a run, or its broker cannot be reached",
            hint="outside of a run, `siding checkpoint -m 'why'` writes something down",
        )
    inside.ask("note", text=_note_text(arguments.text))
    context.screen.note("noted")
    return 0


NOTE = Verb(
    """\
Write a note into the record of the run that this command is part of.

For agents and scripts inside `siding run`, in a sandbox or not: why something was done, what was
tried. `siding show` prints the notes of a run. Outside of a run a checkpoint says such things:
`siding checkpoint -m 'why'`.
""",
    _note_options,
    _note,
)


def _note_text(given: str) -> str:
    return sys.stdin.read() if given == "-" else given


def _broker_options(parser: ArgumentParser) -> None:
    parser.add_argument("--task", required=True)
    parser.add_argument("--run", required=True)
    parser.add_argument("--act", default="")
    parser.add_argument("--listening", type=int, required=True)
    parser.add_argument("--lifeline", type=int, required=True)
    parser.add_argument("--screen", type=int, default=-1)


def _broker(arguments: Namespace, context: Context) -> int:
    from siding.broker.server import BrokerPlace, run_broker

    place = BrokerPlace(
        arguments.task,
        arguments.run,
        arguments.act,
        arguments.listening,
        arguments.lifeline,
        arguments.screen,
    )
    run_broker(context.app, place)
    return 0


BROKER = Verb(
    """Serve a run as its broker. Its host calls this, with the socket; nobody else does.""",
    _broker_options,
    _broker,
)
