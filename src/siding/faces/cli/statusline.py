"""The verb about the status line: what its command gets, and what it makes of it."""

from __future__ import annotations

import re
import time
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.options import add_task_word
from siding.faces.cli.screen.screen import inert
from siding.faces.cli.verb import Verb
from siding.ground.errors import SidingError

if TYPE_CHECKING:
    from siding.statusline.document import Facts

# Colours and links: the terminal that opens by `siding` alone shows the colours.
_SEQUENCES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)")


class CommandFailed(SidingError):
    """The command of the status line has made no line."""

    code = "status_line_failed"


def _options(parser: ArgumentParser) -> None:
    add_task_word(parser)
    parser.add_argument(
        "--try", dest="command", metavar="COMMAND", help="run this one, not that of the settings"
    )
    parser.add_argument("--json", action="store_true", help="print what the command reads, as JSON")


def _statusline(arguments: Namespace, context: Context) -> int:
    from siding.statusline.document import document
    from siding.statusline.gathering import facts_at, place_here, settings_at
    from siding.statusline.words import parts_of

    place = place_here(context.app, arguments.task)
    facts = facts_at(context.app, place)
    if arguments.json:
        print_json(context.screen, document(facts, time.time()))
        return 0
    settings = settings_at(context.app, place)
    for note in settings.notes:
        context.screen.warn(inert(note))
    command = arguments.command or settings.command
    if command:
        context.screen.print(_run(context, command, facts))
        source = "this command line" if arguments.command else settings.source
        context.screen.note(f"  {inert(command)} · of {inert(source)}", "dim")
        return 0
    parts = parts_of(facts) if settings.is_on else []
    context.screen.print(" │ ".join(map(inert, parts)) or "nothing is known of an agent here")
    context.screen.note(
        f"  made by Siding: `status_line: {{command: …}}` in {context.app.home.config_path} names "
        "a command that makes it",
        "dim",
    )
    return 0


STATUSLINE = Verb(
    """\
Show the line of status that the terminal has at its foot, for a task.

Its command is run once, with what it reads on its standard input. The settings name it in the
section `status_line`. Colours are left out here.
""",
    _options,
    _statusline,
)


def _run(context: Context, command: str, facts: Facts) -> str:
    import asyncio
    import shutil

    from siding.statusline.document import line_of
    from siding.statusline.gathering import cwd_of, env_of
    from siding.statusline.running import run_command

    size = shutil.get_terminal_size()
    outcome = asyncio.run(
        run_command(
            command,
            line_of(facts, time.time()),
            cwd=cwd_of(facts, context.app),
            env=env_of(context.app, facts, columns=size.columns, rows=size.lines),
        )
    )
    if outcome.failure:
        raise CommandFailed(
            f"the status line's command made no line: {inert(outcome.failure)}",
            hint="`siding statusline --json` prints what it reads",
        )
    lines = _SEQUENCES.sub("", outcome.text).split("\n")
    return "\n".join(map(inert, lines))
