"""Bring in the transcript of another program: Claude Code, Codex, Gemini CLI.

Of Claude Code the subagents beside it come too. The same import again brings in what was added
since; a session that went on here in the meantime is left alone, --as makes another one.
"""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from siding.app.project import ensure_project
from siding.app.session_upkeep import Form, bring
from siding.cli.globals import Context
from siding.cli.words import counted


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--from", dest="form", choices=[each.value for each in Form])
    parser.add_argument("--as", dest="name", metavar="ID", help="the session's id here")


def run(arguments: Namespace, context: Context) -> int:
    project, _ = ensure_project(context.app)
    form = Form(arguments.form) if arguments.form else None
    for file in arguments.files:
        path = context.app.cwd / Path(file)
        done = bring(project, path, form=form, session_id=arguments.name)
        context.screen.print(done.session_id)
        agents = f", {counted(done.agents, 'subagent')}" if done.agents else ""
        context.screen.note(f"{counted(done.lines, 'new line')} from {done.form.value}{agents}")
    return 0
