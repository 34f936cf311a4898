"""Go on with the run of an agent's own screen as a conversation."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from siding.faces.cli.chat.which import BY, opened
from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.options import add_sandbox_arguments
from siding.faces.cli.screen.questions import agreed, can_ask
from siding.faces.cli.screen.words import task_name
from siding.faces.cli.verb import Verb
from siding.ground.errors import UsageError


def _options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "run", metavar="RUN", nargs="?", default="", help="default: the newest of an agent"
    )
    parser.add_argument("-t", "--task", metavar="TASK", help="the task (default: this terminal's)")
    parser.add_argument("--model", metavar="MODEL", default="", help="in the agent's own words")
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="WORD",
        help="a word for the agent's own command line, as --option=-m (repeatable)",
    )
    parser.add_argument("-y", "--yes", action="store_true", help="end the screen without asking")
    parser.add_argument(
        "-f", "--force", action="store_true", help="end what it has in the background, too"
    )
    add_sandbox_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print as JSON")


def _take(arguments: Namespace, context: Context) -> int:
    from siding.chat.takeover import find_screen, take
    from siding.faces.cli.telling.runs import sandbox_request

    project = opened(context)
    sandbox = sandbox_request(arguments)
    found = find_screen(project, arguments.task, arguments.run)
    if found.live is not None and not arguments.yes:
        if not can_ask():
            raise UsageError(
                f"run {found.run} lives: its screen would be ended", hint="--yes ends it"
            )
        if not agreed(f"end the screen of {found.agent} ({found.run}) at its turn's end?"):
            context.screen.note("nothing was changed")
            return 1
    taken = take(
        project,
        found,
        options=arguments.option,
        model=arguments.model,
        sandbox=sandbox,
        by=BY,
        forced=arguments.force,
    )
    if arguments.json:
        record = {"chat": taken.chat.id, "task": taken.task.id, "new": taken.is_new}
        print_json(context.screen, record)
        return 0
    name = f"{task_name(taken.task.name)} · {taken.chat.id}"
    how = "goes on with" if taken.is_new else "has gone on already with"
    context.screen.note(f"{name} {how} what {found.agent} was in {found.run}")
    context.screen.note("  siding chat send TEXT · siding chat show --follow", "dim")
    return 0


TAKE = Verb(
    """\
Go on with a run of an agent's own screen (`siding run -- claude`) as a conversation.

A screen that lives is ended when its turn has ended; with something in the background that is
refused without --force. The conversation is in the same task, and its story begins with what was
said on the screen. The flags of the run are not taken along: --option gives them.

  siding chat take
  siding chat take r3 --model opus
""",
    _options,
    _take,
)
