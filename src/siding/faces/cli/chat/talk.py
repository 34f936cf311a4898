"""Talk with an agent in a task. It goes on without this terminal.

A host holds the agent over its own protocol, and keeps its queue and what it asks. What it asks is
put to you as any question is (`siding inbox`, the dashboard, a paired device). Each turn is a step.

  siding chat claude 'fix the parser'
  siding chat send 'and its tests'
  siding chat show --follow
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.chat.which import BY, add_which, found
from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.options import add_sandbox_arguments
from siding.faces.cli.screen.screen import inert
from siding.faces.cli.screen.words import task_name
from siding.faces.cli.verb import Verb
from siding.ground.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from siding.chat.store import Chat


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("agent", metavar="AGENT", help="the agent, by its name")
    parser.add_argument("prompt", metavar="PROMPT", nargs="?", help="- reads it from input")
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="WORD",
        help="a word for the agent's own command line, as --option=-m (repeatable)",
    )
    parser.add_argument("-t", "--task", metavar="TASK", help="the task (default: this terminal's)")
    parser.add_argument("--new", metavar="NAME", help="in a new task of this name")
    parser.add_argument("--model", metavar="MODEL", default="", help="in the agent's own words")
    _add_pictures(parser)
    parser.add_argument("-f", "--follow", action="store_true", help="show it as it goes on")
    add_sandbox_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print as JSON")


def run(arguments: Namespace, context: Context) -> int:
    from siding.chat.conversations import begin, ensure_host, give, task_for
    from siding.faces.cli.telling.runs import sandbox_request
    from siding.record.place.project import ensure_project

    project, _made = ensure_project(context.app)
    context.screen.use_colour(project.settings.color)
    about = (arguments.agent, arguments.prompt or "")
    task = task_for(project, arguments.task, new=arguments.new, about=about)
    chat = begin(
        project,
        task,
        arguments.agent,
        options=arguments.option,
        model=arguments.model,
        by=BY,
        sandbox=sandbox_request(arguments),
    )
    words = _words(arguments.prompt)
    prompt = ""
    if words:
        prompt = give(project, chat, words, by=BY, files=_pictures(arguments))
    ensure_host(project, task, chat, sandbox_request(arguments))
    if arguments.json:
        print_json(context.screen, {"chat": chat.id, "task": task.id, "prompt": prompt})
    else:
        context.screen.note(f"{task_name(task.name)} · {chat.id} with {arguments.agent}")
        if not arguments.follow:
            context.screen.note(
                "  siding chat show --follow · siding chat send TEXT · siding chat stop", "dim"
            )
    return _follow(chat, context) if arguments.follow else 0


def _add_pictures(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--picture", action="append", default=[], metavar="FILE", help="goes along (repeatable)"
    )


def _pictures(arguments: Namespace) -> list[Path]:
    from pathlib import Path

    return [Path(each) for each in arguments.picture]


def _words(said: str | None) -> str:
    return sys.stdin.read() if said == "-" else said or ""


# -- send, steer, stop, end ------------------------------------------------------------------------


def _send_options(parser: ArgumentParser) -> None:
    parser.add_argument("prompt", metavar="PROMPT", help="- reads it from input")
    _add_pictures(parser)
    add_which(parser)
    parser.add_argument("--json", action="store_true", help="print as JSON")


def _give(arguments: Namespace, context: Context, *, steers: bool) -> int:
    from siding.chat.conversations import ensure_host, give, refuse_steer

    project, task, chat = found(context, arguments.task, arguments.chat)
    if steers:
        refuse_steer(chat)
    words = _words(arguments.prompt)
    prompt = give(project, chat, words, by=BY, files=_pictures(arguments), steers=steers)
    ensure_host(project, task, chat)
    if arguments.json:
        print_json(context.screen, {"chat": chat.id, "task": task.id, "prompt": prompt})
        return 0
    context.screen.note(f"{task_name(task.name)} · {chat.id} · {prompt[:8]}")
    return 0


SEND = Verb(
    """\
Give the agent a prompt. It waits until the turn that runs has ended, and those before it.
""",
    _send_options,
    lambda arguments, context: _give(arguments, context, steers=False),
)
STEER = Verb(
    """\
Give the agent a prompt into the turn that runs, where the agent can take one.

If the turn ends before the agent has taken it, it is the next prompt.
""",
    _send_options,
    lambda arguments, context: _give(arguments, context, steers=True),
)


def _stop(arguments: Namespace, context: Context) -> int:
    from siding.chat.conversations import put
    from siding.chat.requests import StopTurn

    project, task, chat = found(context, arguments.task, arguments.chat)
    if not chat.has_host():
        raise UsageError(f"conversation {chat.id} does nothing: nobody holds its agent")
    put(project, chat, StopTurn(), by=BY)
    context.screen.note(f"{task_name(task.name)} · {chat.id} · it is told to stop")
    return 0


STOP = Verb(
    """\
Have the agent stop its turn, and drop the prompts that wait. The agent stays.
""",
    add_which,
    _stop,
)


def _end(arguments: Namespace, context: Context) -> int:
    from siding.chat.conversations import put
    from siding.chat.requests import EndTalk

    project, task, chat = found(context, arguments.task, arguments.chat)
    if not chat.has_host():
        context.screen.note(f"{chat.id} has no agent running")
        return 0
    put(project, chat, EndTalk(), by=BY)
    context.screen.note(
        f"{task_name(task.name)} · {chat.id} ends with this turn; a prompt brings it back"
    )
    return 0


END = Verb(
    """\
End the agent when its turn has ended. The conversation stays; the next prompt goes on with it.
""",
    add_which,
    _end,
)


# -- list, show ------------------------------------------------------------------------------------


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
    return _follow(chat, context, after=arguments.after, follow=arguments.follow)


def _lines(chat: Chat, *, follow: bool) -> Iterator[bytes]:
    from siding.chat.following import followed, told

    return followed(chat) if follow else told(chat)


def _number(line: bytes) -> int:
    from siding.chat.following import number_of

    return number_of(line)


def _follow(chat: Chat, context: Context, *, after: int = 0, follow: bool = True) -> int:
    from siding.chat.following import record_in
    from siding.faces.cli.chat.showing import Teller

    teller = Teller(context.screen)
    for line in _lines(chat, follow=follow):
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
