"""The verbs that bring the transcripts of other programs in, and write them."""

from argparse import ArgumentParser, Namespace

from siding.agents.table import OUR_FORM, agents_with
from siding.faces.cli.globals import Context
from siding.faces.cli.sessions.options import SESSION
from siding.faces.cli.verb import Verb
from siding.ground.errors import SidingError, UsageError, counted

FORMS = agents_with("interchange")


def _import_options(parser: ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help="a transcript")
    parser.add_argument(
        "--from", dest="form", choices=FORMS, help="whose it is (default: as it looks)"
    )
    parser.add_argument("--as", dest="name", metavar="ID", help="the session's id here")


def _import(arguments: Namespace, context: Context) -> int:
    from pathlib import Path

    from siding.record.place.project import ensure_project
    from siding.sessions.upkeep import bring

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
            context.screen.warn(f"{file} was not imported: {_import_reason(error)}")
            continue
        context.screen.print(done.session_id)
        agents = f", {counted(done.agents, 'subagent')}" if done.agents else ""
        context.screen.note(f"{counted(done.lines, 'new line')} from {done.form}{agents}")
    if not failures:
        return 0
    count = len(arguments.files)
    context.screen.warn(f"{len(failures)} of {counted(count, 'file')} were not imported")
    return max(error.exit_code if isinstance(error, SidingError) else 1 for error in failures)


IMPORT = Verb(
    """\
Bring in the transcript of another program: Claude Code, Codex, Gemini CLI.

Of Claude Code the subagents beside it come too. The same import again brings in what was added
since; a session that went on here in the meantime is left alone, --as makes another one.

Of several files one that cannot be imported does not keep the others out; the exit status is then
not 0.
""",
    _import_options,
    _import,
)


def _import_reason(error: SidingError | OSError) -> str:
    if isinstance(error, SidingError):
        return f"{error.message} ({error.hint})" if error.hint else error.message
    return str(error)


def _export_options(parser: ArgumentParser) -> None:
    parser.add_argument("session", nargs="?", metavar="SESSION", help=SESSION)
    parser.add_argument(
        "--to",
        dest="form",
        choices=FORMS,
        default=OUR_FORM,
        help=f"default: {OUR_FORM}",
    )
    parser.add_argument("-o", "--output", metavar="DIRECTORY", default=".", help="default: here")
    parser.add_argument("--no-redact", action="store_true", help="leave secrets as they are")


def _export(arguments: Namespace, context: Context) -> int:
    from pathlib import Path

    from siding.sessions.lookup import scope_of
    from siding.sessions.reader import readable
    from siding.sessions.upkeep import give, give_redacted

    app = context.app
    _, place, session = readable(app, scope_of(app), arguments.session)
    target = context.app.cwd / Path(arguments.output)
    write = give if arguments.no_redact else give_redacted
    for path in write(place, session, arguments.form, target):
        context.screen.print(str(path))
    return 0


EXPORT = Verb(
    """\
Write a session as the transcript of Claude Code, Codex or Gemini CLI, into a directory.

Secrets that were said or printed in it are masked: [redacted:kind]. With --no-redact, what came
from that program comes out byte for byte: for yourself, to go on there.
""",
    _export_options,
    _export,
)
