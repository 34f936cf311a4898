"""Record what an integrated agent reports: its words are JSON on standard input."""

import json
import sys
from argparse import ArgumentParser, Namespace

from siding.app.integrating.reports import reported
from siding.cli.globals import Context
from siding.errors import UsageError


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("agent")


def run(arguments: Namespace, context: Context) -> int:
    said = sys.stdin.buffer.read().decode("utf-8", "replace")
    try:
        payload = json.loads(said)
    except ValueError:
        payload = None
    if not isinstance(payload, dict):
        raise UsageError("the agent's words are not a JSON object")
    answer = reported(context.app, arguments.agent, payload)
    context.screen.out.write(answer.output)
    return answer.status
