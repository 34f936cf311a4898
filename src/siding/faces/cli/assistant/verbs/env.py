"""The variables that the agent reads, and whether they are set. Keys are never shown.

Those that are set come first in the list; --all shows the others, too. Of an address no password
and no query is shown. Variables that the settings set for the agent's commands are named with their
file.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import inert

if TYPE_CHECKING:
    from siding.assistant.looking.variables import AgentVariable


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("-a", "--all", action="store_true", help="those that are not set, too")
    parser.add_argument("--json", action="store_true", help="say it as JSON")


def run(arguments: Namespace, context: Context) -> int:
    from siding.assistant.looking.variables import variables
    from siding.assistant.settings_files import NO_FLAGS
    from siding.assistant.settling import values_here

    found = variables(context.app.env)
    values = values_here(context.app, NO_FLAGS)
    by_settings = {name: values.origins[f"env.{name}"].source for name in values.env}
    if arguments.json:
        document = {"variables": [each._asdict() for each in found], "by_settings": by_settings}
        print_json(context.screen, document)
        return 0
    shown = sorted(found, key=lambda each: not each.is_set)
    rows = [_cells(each) for each in shown if each.is_set or arguments.all]
    rows += [
        (inert(name), "set, not shown", f"by the settings: {inert(source)}")
        for name, source in by_settings.items()
    ]
    if rows:
        context.screen.table(("VARIABLE", "VALUE", "WHAT IT IS"), rows)
    else:
        context.screen.note("none is set; --all names them")
    return 0


def _cells(each: AgentVariable) -> tuple[str, str, str]:
    value = inert(each.value) or "-"
    if each.is_set and each.is_secret:
        value = "set, not shown"
    return each.name, value, each.about
