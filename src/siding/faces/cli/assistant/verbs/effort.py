"""Show how much the model is to think, and who says so; with EFFORT, keep another one.

EFFORT is low, medium, high, xhigh, or a number of tokens; `auto` leaves it to the model again. It
is kept for all your projects. `--effort` of `siding agent` goes before it, and so does the variable
SIDING_AGENT_EFFORT; settings of the project or of the machine may as well. `max` is not kept: give
it with `--effort`.

  siding agent effort
  siding agent effort high
"""

from argparse import ArgumentParser, Namespace

from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import inert

_SHOW = ("current", "status")  # as Claude Code's /effort has it


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("effort", nargs="?", metavar="EFFORT", default="")
    parser.add_argument("--json", action="store_true", help="say it as JSON")


def run(arguments: Namespace, context: Context) -> int:
    from siding.assistant.looking.effort import effort_here, set_effort

    app, screen = context.app, context.screen
    lines: tuple[str, ...] = ()
    if arguments.effort and arguments.effort.strip().lower() not in _SHOW:
        lines = set_effort(app, arguments.effort)
    found = effort_here(app)
    if arguments.json:
        print_json(
            screen,
            {
                "effort": found.choice.effort,
                "by": found.choice.by.name.lower(),
                "source": found.source,
                "kept": found.kept,
                "variable": found.variable,
                "said": list(lines),
            },
        )
        return 0
    for line in lines or (found.text,):
        screen.print(inert(line))
    return 0
