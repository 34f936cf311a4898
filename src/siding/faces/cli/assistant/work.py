"""Work on a task with Siding's own agent: it needs a key of a model's provider, or a local model.

It runs as `siding run` runs any agent: in the task's workspace, each turn recorded as a step that
`siding undo` takes back with the conversation. With -p it answers one prompt and ends; at a
terminal it goes on with what you type.

  siding agent -p 'fix the parser'
  siding agent --continue
  git diff | siding agent -p 'review this' --output-format json

The name of one of these commands, as the first word, is that command: `siding agent doctor`. A
prompt of this one word stands behind an option, or behind `--`: siding agent -p -- doctor.
"""

from argparse import ArgumentParser, Namespace

from siding.faces.cli.assistant import flags
from siding.faces.cli.globals import Context
from siding.faces.cli.options import add_sandbox_arguments
from siding.faces.cli.table import BELOW


def add_arguments(parser: ArgumentParser) -> None:
    flags.add_arguments(parser)
    group = parser.add_argument_group("the run that it is")
    group.add_argument("-t", "--task", metavar="TASK", help="the task (default: this terminal's)")
    add_sandbox_arguments(parser)
    parser.epilog = _below()


def _below() -> str:
    lines = [f"  {name:<16} {about}" for name, (_place, about) in BELOW["agent"].items()]
    return "\n".join(["commands about the agent and its conversations:", *lines])


def run(arguments: Namespace, context: Context) -> int:
    from siding.assistant.starting import is_inside

    if is_inside(context.app):
        from siding.faces.cli.assistant.serving import serve

        return serve(arguments, context)
    from siding.faces.cli.assistant.options import options_of
    from siding.faces.cli.assistant.starting import start

    # What is wrong with them is said before anything begins.
    options = options_of(arguments, context.app.cwd)
    return start(arguments, options, context)
