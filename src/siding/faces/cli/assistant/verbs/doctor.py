"""Whether the agent can work here, and what is missing. The exit status is 1 if something is.

It looks at the model, its libraries and key (which is never shown), the files of settings and what
of them is withheld, what searches files, the sandbox, the broker of a run, and Siding's home. No
model is asked, and nothing is changed. `siding doctor` looks at the records of the project.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import inert

if TYPE_CHECKING:
    from siding.assistant.looking.doctor import AgentFinding


_COLOURS = {"ok": "green", "note": "yellow", "broken": "red"}  # by `Health`


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="say it as JSON")


def run(arguments: Namespace, context: Context) -> int:
    from siding.assistant.looking.doctor import Health, agent_findings

    found = list(agent_findings(context.app))
    if arguments.json:
        print_json(context.screen, [each._asdict() for each in found])
    else:
        for each in found:
            _print(context, each)
    return 1 if any(each.health is Health.BROKEN for each in found) else 0


def _print(context: Context, found: AgentFinding) -> None:
    from siding.assistant.looking.doctor import Health

    screen = context.screen
    mark = screen.style(f"{found.health:<7}", _COLOURS[found.health])
    screen.print(f"{mark} {found.what}: {inert(found.text)}")
    if found.hint and found.health is not Health.OK:
        screen.print(f"        {inert(found.hint)}")
