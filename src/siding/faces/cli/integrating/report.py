"""Record what an integrated agent reports: its words are JSON on standard input.

Whatever goes wrong, the exit status is not 2: by that a hook keeps agents from a prompt, or from
stopping.
"""

import sys
from argparse import ArgumentParser, Namespace
from typing import Any

from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import inert
from siding.ground.errors import SidingError, UsageError


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("agent")


def run(arguments: Namespace, context: Context) -> int:
    from siding.integrating.reports import reported

    said = sys.stdin.buffer.read().decode("utf-8", "replace")
    try:
        answer = reported(context.app, arguments.agent, _parsed(said))
    except (SidingError, OSError) as error:
        what = error.message if isinstance(error, SidingError) else str(error)
        context.screen.warn(f"this turn is not recorded: {inert(what)}")
        return 1
    context.screen.out.write(answer.output)
    return answer.status


def _parsed(said: str) -> dict[str, Any]:
    import json

    try:
        payload = json.loads(said)
    except ValueError:
        payload = None
    if not isinstance(payload, dict):
        raise UsageError("the agent's words are not a JSON object")
    return payload
