"""Be an agent for an editor that speaks the Agent Client Protocol (ACP): `siding acp`.

The editor starts this and speaks with it over its input and output. Each session is a conversation
in a task of its own: recorded step by step, undoable, and open to every other screen. When the
editor closes, the agent goes on, and the session can be loaded again.

  siding acp --agent codex
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from siding.faces.cli.globals import Context
from siding.faces.cli.options import add_sandbox_arguments


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--agent", metavar="NAME", default="claude", help="who works (default: claude)"
    )
    place = parser.add_mutually_exclusive_group()
    place.add_argument("-t", "--task", metavar="TASK", help="new sessions are in this task")
    place.add_argument("--new", metavar="NAME", help="the name of a new session's task")
    parser.add_argument("--model", metavar="MODEL", default="", help="in the agent's own words")
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="WORD",
        help="a word for the agent's own command line, as --option=-m (repeatable)",
    )
    add_sandbox_arguments(parser)


def run(arguments: Namespace, context: Context) -> int:
    from siding.faces.acp.serving import NewSessions, serve
    from siding.faces.cli.telling.runs import sandbox_request

    new = NewSessions(
        agent=arguments.agent,
        task=arguments.task,
        new_task=arguments.new,
        model=arguments.model,
        options=tuple(arguments.option),
        sandbox=sandbox_request(arguments),
    )
    return serve(context.app._replace(choose=None), new)
