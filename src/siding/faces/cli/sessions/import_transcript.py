"""Bring in the transcript of another program: Claude Code, Codex, Gemini CLI.

Of Claude Code the subagents beside it come too. The same import again brings in what was added
since; a session that went on here in the meantime is left alone, --as makes another one.

Of several files one that cannot be imported does not keep the others out; the exit status is then
not 0.
"""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from siding.faces.cli.globals import Context
from siding.faces.cli.screen.words import counted
from siding.ground.errors import SidingError, UsageError
from siding.record.place.project import ensure_project
from siding.sessions.upkeep import FORMS, bring


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--from", dest="form", choices=FORMS)
    parser.add_argument("--as", dest="name", metavar="ID", help="the session's id here")


def run(arguments: Namespace, context: Context) -> int:
    if arguments.name and len(arguments.files) > 1:
        raise UsageError("--as names one session", hint="import the files one by one")
    project, _ = ensure_project(context.app)
    failures: list[SidingError | OSError] = []
    for file in arguments.files:
        path = context.app.cwd / Path(file)
        try:
            done = bring(project, path, form=arguments.form or None, session_id=arguments.name)
        except (SidingError, OSError) as error:
            if len(arguments.files) == 1:
                raise
            failures.append(error)
            context.screen.warn(f"{file} was not imported: {_reason(error)}")
            continue
        context.screen.print(done.session_id)
        agents = f", {counted(done.agents, 'subagent')}" if done.agents else ""
        context.screen.note(f"{counted(done.lines, 'new line')} from {done.form}{agents}")
    if not failures:
        return 0
    count = len(arguments.files)
    context.screen.warn(f"{len(failures)} of {counted(count, 'file')} were not imported")
    return max(error.exit_code if isinstance(error, SidingError) else 1 for error in failures)


def _reason(error: SidingError | OSError) -> str:
    if isinstance(error, SidingError):
        return f"{error.message} ({error.hint})" if error.hint else error.message
    return str(error)
