"""The conversations of a task, and the story of one."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.chat.which import add_which, found
from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import inert
from siding.faces.cli.screen.words import task_name
from siding.faces.cli.verb import Verb

if TYPE_CHECKING:
    from collections.abc import Iterator

    from siding.chat.store import Chat


def _list_options(parser: ArgumentParser) -> None:
    parser.add_argument("-t", "--task", metavar="TASK", help="the task (default: this terminal's)")
    parser.add_argument("--json", action="store_true", help="print as JSON")


def _list(arguments: Namespace, context: Context) -> int:
    from siding.chat.conversations import listed
    from siding.faces.cli.chat.which import opened

    project = opened(context)
    task, all_ = listed(project, arguments.task)
    if arguments.json:
        print_json(context.screen, [each.as_record() for each in all_])
        return 0
    for each in all_:
        waits = f" · {len(each.talk.queue)} wait" if each.talk.queue else ""
        title = inert(each.talk.title)
        context.screen.print(f"{each.id:4} {each.talk.agent:10} {each.standing:9}{waits}  {title}")
    if not all_:
        context.screen.note(f"{task_name(task.name)} · no conversation · siding chat AGENT PROMPT")
    return 0


LIST = Verb("List the conversations of a task.\n", _list_options, _list)


def _show_options(parser: ArgumentParser) -> None:
    add_which(parser)
    parser.add_argument("-f", "--follow", action="store_true", help="go on until its agent ends")
    parser.add_argument(
        "--after", metavar="NUMBER", type=int, default=0, help="leave out lines up to it"
    )
    parser.add_argument("--json", action="store_true", help="print as JSON")


def _show(arguments: Namespace, context: Context) -> int:
    _project, _task, chat = found(context, arguments.task, arguments.chat)
    if arguments.json:
        for line in _lines(chat, follow=arguments.follow):
            if _number(line) > arguments.after:
                sys.stdout.buffer.write(line)
                sys.stdout.buffer.flush()
        return 0
    return follow(chat, context, after=arguments.after, goes_on=arguments.follow)


def _lines(chat: Chat, *, follow: bool) -> Iterator[bytes]:
    from siding.chat.following import followed, told

    return followed(chat) if follow else told(chat)


def _number(line: bytes) -> int:
    from siding.chat.following import number_of

    return number_of(line)


def follow(chat: Chat, context: Context, *, after: int = 0, goes_on: bool = True) -> int:
    """Show a story from its beginning; go on as it grows until nobody holds the agent."""
    from siding.chat.following import record_in
    from siding.faces.cli.chat.showing import Teller

    teller = Teller(context.screen)
    for line in _lines(chat, follow=goes_on):
        record = record_in(line)
        if record.get("seq", 0) > after:
            teller.tell(record)
    teller.end()
    return 0


SHOW = Verb(
    """\
Show a conversation from its beginning; with --follow go on as it goes on.

Any number of processes may follow one. Each gets the same lines, in the same order; `--json` prints
them as they are kept, and `--after` leaves out those up to a number.
""",
    _show_options,
    _show,
)
