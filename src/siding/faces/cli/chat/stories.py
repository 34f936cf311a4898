"""The conversations of a task, and the story of one."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.chat.which import add_which, found, workspace_of
from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.pager import paged
from siding.faces.cli.screen.screen import Screen, columns_of, inert, shorten
from siding.faces.cli.screen.words import ago, task_name
from siding.faces.cli.verb import Verb
from siding.ground.errors import UsageError, counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from siding.chat.conversations import Listed, Task
    from siding.chat.store import Chat

_INTERRUPTED = 130


# How a state is shown.
_STYLES = {
    "waits": "yellow",
    "held": "yellow",
    "unsure": "yellow",
    "handed-over": "yellow",
    "running": "cyan",
    "starting": "cyan",
    "stopping": "cyan",
    "idle": "green",
    "ended": "dim",
}


def _list_options(parser: ArgumentParser) -> None:
    which = parser.add_mutually_exclusive_group()
    which.add_argument("-t", "--task", metavar="TASK", help="the task (default: this terminal's)")
    which.add_argument("-a", "--all", action="store_true", help="those of all tasks that are open")
    parser.add_argument("--json", action="store_true", help="print as JSON")


def _list(arguments: Namespace, context: Context) -> int:
    from siding.chat.conversations import listed, listed_everywhere
    from siding.faces.cli.chat.which import opened

    project = opened(context)
    of_all = getattr(arguments, "all", False)
    if of_all:
        found = listed_everywhere(project)
    else:
        task, of_task = listed(project, arguments.task)
        found = [(task, of_task)]
    if arguments.json:
        records = [
            {"task": task.id, "name": task.name, **each.as_record()}
            for task, chats in found
            for each in chats
        ]
        print_json(context.screen, records)
        return 0
    rows = [_cells(task, each, of_all) for task, chats in found for each in chats]
    _print_rows(context.screen, rows)
    if not rows:
        where = "" if of_all else f"{task_name(found[0][0].name)} · "
        context.screen.note(f"{where}no conversation · siding chat AGENT PROMPT begins one")
    return 0


def _cells(task: Task, each: Listed, of_all: bool) -> tuple[str, ...]:
    """Return task, id, agent, state, since and what it is about."""
    talk = each.talk
    about = [talk.title]
    if talk.asks:
        about.insert(0, f"asks: {talk.asks[0].title} ·")
    if talk.queue:
        about.append(f"({counted(len(talk.queue), 'prompt')} waiting)")
    if talk.trouble:
        about.append(f"! {talk.trouble}")
    since = ago(talk.since) if talk.since else ""
    name = (task_name(task.name),) if of_all else ()
    words = " ".join(" ".join(filter(None, about)).split())
    return (*name, each.id, talk.agent, each.standing.value, since, words)


def _print_rows(screen: Screen, rows: list[tuple[str, ...]]) -> None:
    """Print rows with the last column as wide as the terminal lets it be, and states coloured."""
    *widths, _last = [max(map(columns_of, cells)) for cells in zip(*rows, strict=True)] or [0]
    room = None if screen.columns is None else screen.columns - sum(widths) - 2 * len(widths)
    for cells in rows:
        *cut, last = map(inert, cells)
        shown = []
        for cell, width in zip(cut, widths, strict=True):
            style = _STYLES.get(cell)
            padding = " " * (width - columns_of(cell))
            shown.append((screen.style(cell, style) if style else cell) + padding)
        shown.append(last if room is None else shorten(last, max(room, 20)))
        screen.print("  ".join(shown).rstrip())


LIST = Verb(
    """\
List the conversations of a task, or with --all those of all open tasks.
""",
    _list_options,
    _list,
)


def _show_options(parser: ArgumentParser) -> None:
    add_which(parser)
    parser.add_argument("-f", "--follow", action="store_true", help="go on until its agent ends")
    parser.add_argument(
        "-n", "--limit", metavar="N", type=int, default=0, help="the last N prompts (0: all)"
    )
    parser.add_argument(
        "--after", metavar="NUMBER", type=int, default=0, help="leave out lines up to it"
    )
    parser.add_argument("--json", action="store_true", help="print as JSON")


def _show(arguments: Namespace, context: Context) -> int:
    if arguments.limit < 0:
        raise UsageError("--limit is 0 or more")
    project, task, chat = found(context, arguments.task, arguments.chat)
    after = max(arguments.after, _before_last(chat, arguments.limit))
    if not arguments.json:
        if arguments.follow:
            return follow(chat, context, workspace_of(project, task), after=after)
        with paged(context.screen):
            return _told(chat, context, workspace_of(project, task), after)
    try:
        for line in _lines(chat, follow=arguments.follow):
            if _number(line) > after:
                sys.stdout.buffer.write(line)
                sys.stdout.buffer.flush()
    except KeyboardInterrupt:
        return _left(chat, context)
    return 0


def _before_last(chat: Chat, count: int) -> int:
    """Return the number of the line before the last so many prompts; 0 for no limit."""
    if not count:
        return 0
    numbers = [_number(line) for line in _lines(chat, follow=False) if b'"sending"' in line]
    return numbers[-count] - 1 if count <= len(numbers) else 0


def _lines(chat: Chat, *, follow: bool) -> Iterator[bytes]:
    from siding.chat.following import followed, told

    return followed(chat) if follow else told(chat)


def _number(line: bytes) -> int:
    from siding.chat.following import number_of

    return number_of(line)


def _told(chat: Chat, context: Context, workspace: str, after: int) -> int:
    """Show what there is of a story."""
    from siding.chat.story import record_in
    from siding.faces.cli.chat.showing import Teller

    teller = Teller(context.screen, chat.talk(), is_live=False, workspace=workspace)
    for line in _lines(chat, follow=False):
        record = record_in(line)
        (teller.tell if _number(line) > after else teller.learn)(record)
    teller.end()
    return 0


def follow(chat: Chat, context: Context, workspace: str, *, after: int = 0) -> int:
    """Show a story and go on as it grows, until nobody holds the agent, or the person leaves."""
    from siding.chat.story import record_in
    from siding.faces.cli.chat.showing import Teller

    teller = Teller(context.screen, chat.talk(), is_live=True, workspace=workspace)
    try:
        for line in _lines(chat, follow=True):
            record = record_in(line)
            (teller.tell if _number(line) > after else teller.learn)(record)
    except KeyboardInterrupt:
        teller.end()
        return _left(chat, context)
    teller.end()
    context.screen.note(f"{chat.id} · no agent is there; a prompt brings it back", "dim")
    return 0


def _left(chat: Chat, context: Context) -> int:
    """Say that a person has left a conversation, and nothing else has ended."""
    if chat.has_host():
        context.screen.note(
            f"{chat.id} goes on without this terminal: siding chat show --follow comes back, "
            "siding chat stop ends its turn"
        )
    return _INTERRUPTED


SHOW = Verb(
    """\
Show a conversation from its beginning; with --follow go on as it goes on.

Any number of processes may follow one. Each gets the same lines, in the same order; `--json` prints
them as they are kept, and `--after` leaves out those up to a number. Ctrl-C leaves, and the agent
goes on.
""",
    _show_options,
    _show,
)
