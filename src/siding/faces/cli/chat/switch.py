"""Have another agent go on with a conversation."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from siding.faces.cli.chat.which import BY, add_which, found
from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import inert
from siding.faces.cli.screen.words import task_name
from siding.faces.cli.verb import Verb


def _options(parser: ArgumentParser) -> None:
    parser.add_argument("agent", metavar="AGENT", help="by its name")
    parser.add_argument("--model", metavar="MODEL", default="", help="in the agent's own words")
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="WORD",
        help="a word for the agent's own command line, as --option=-m (repeatable)",
    )
    parser.add_argument(
        "-f", "--force", action="store_true", help="end what the present one has in the background"
    )
    add_which(parser)
    parser.add_argument("--json", action="store_true", help="print as JSON")


def _switch(arguments: Namespace, context: Context) -> int:
    from siding.chat.carrying import carried
    from siding.chat.switch import switch

    project, task, chat = found(context, arguments.task, arguments.chat)
    agent = arguments.agent
    along = carried(chat.talk(), agent)
    is_done = switch(
        project,
        task,
        chat,
        agent,
        options=arguments.option,
        model=arguments.model,
        by=BY,
        forced=arguments.force,
    )
    if arguments.json:
        record = {"chat": chat.id, "task": task.id, "agent": agent, "switched": is_done}
        record |= {"mode": along.mode, "effort": along.effort, "left": [*along.left]}
        print_json(context.screen, record)
        return 0
    how = "goes on with the next prompt" if is_done else "goes on when the turn has ended"
    context.screen.note(f"{task_name(task.name)} · {chat.id} · {agent} {how}")
    for each in along.left:
        context.screen.note(f"  {inert(each)}", "yellow")
    return 0


SWITCH = Verb(
    """\
Have another agent go on with a conversation when its turn has ended.

It is told what was said so far, as a text before its first prompt: the newest whole, what is older
shorter, tools as lines. Mode and effort go along where they mean the same to both, and it is said
what does not: it never begins in a mode that asks less. Queue, files and steps stay; an undo goes
back over the change. An agent that comes back goes on with its own conversation, and is told what
was said since.

  siding chat switch codex
  siding chat switch claude --model opus
""",
    _options,
    _switch,
)
