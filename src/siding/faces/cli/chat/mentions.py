"""What an editor of prompts offers behind `@` and `/`."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from siding.faces.cli.chat.which import add_which, found, opened
from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import inert
from siding.faces.cli.verb import Verb
from siding.ground.errors import UsageError

_MOST = 50


def _options(parser: ArgumentParser) -> None:
    parser.add_argument("word", metavar="WORD", help="@ and letters of a path, / and of a command")
    parser.add_argument(
        "-n", "--limit", metavar="N", type=int, default=_MOST, help=f"this many (default: {_MOST})"
    )
    add_which(parser)
    parser.add_argument("--json", action="store_true", help="print as JSON")


def _complete(arguments: Namespace, context: Context) -> int:
    from siding.chat.mentions import commands_like, files_like
    from siding.record.place.selection import select

    mark, typed = arguments.word[:1], arguments.word[1:]
    if arguments.limit < 1:
        raise UsageError("--limit is 1 or more")
    if mark == "@":
        project = opened(context)
        mentions = files_like(project, select(project, arguments.task), typed, arguments.limit)
    elif mark == "/":
        _project, _task, chat = found(context, arguments.task, arguments.chat)
        mentions = commands_like(chat, typed, arguments.limit)
    else:
        raise UsageError(
            f"{arguments.word!r} begins with neither @ nor /",
            hint="siding chat complete @src/ma",
        )
    if arguments.json:
        print_json(context.screen, [each._asdict() for each in mentions])
    else:
        for each in mentions:
            about = f"\t{inert(each.about)}" if each.about else ""
            context.screen.print(f"{inert(each.value)}{about}")
    return 0


COMPLETE = Verb(
    """\
List what fits behind the `@` or the `/` of a prompt, best first: files of the task's workspace, the
agent's own commands. It is for programs in which prompts are written.

  siding chat complete @src/ma --json
""",
    _options,
    _complete,
)
