"""Write a session as the transcript of Claude Code, Codex or Gemini CLI, into a directory.

What came from that program comes out as it was. Nothing is masked: a transcript holds whatever was
said and printed in it.
"""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from siding.app.project import require_project
from siding.app.session_upkeep import Form, give
from siding.cli.globals import Context


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("session", nargs="?", metavar="SESSION")
    parser.add_argument("--to", dest="form", choices=[each.value for each in Form],
                        default=Form.CLAUDE.value, help="default: claude")  # fmt: skip
    parser.add_argument("-o", "--output", metavar="DIRECTORY", default=".", help="default: here")


def run(arguments: Namespace, context: Context) -> int:
    project = require_project(context.app)
    target = context.app.cwd / Path(arguments.output)
    for path in give(project, arguments.session, Form(arguments.form), target):
        context.screen.print(str(path))
    return 0
