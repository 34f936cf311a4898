"""Answer what an agent asks."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.chat.wording import LASTS
from siding.faces.cli.chat.which import add_which, found, opened
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import inert
from siding.faces.cli.verb import Verb
from siding.ground.errors import NotFound, SidingError, UsageError

if TYPE_CHECKING:
    from siding.chat.store import Chat
    from siding.chat.talk import OpenAsk
    from siding.record.place.project import Project

_PUT_WITHIN_S = 10.0
_TOLD_WITHIN_S = 10.0


def _options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "ask",
        metavar="ASK",
        nargs="?",
        help="its id, here or in `siding inbox --json` (default: the only one)",
    )
    how = parser.add_mutually_exclusive_group(required=True)
    how.add_argument("-y", "--yes", action="store_true", help="it may, this once")
    how.add_argument(
        "--always",
        nargs="?",
        const="conversation",
        metavar="HOW-LONG",
        help="it may from now on: conversation (usual), task, or agent (in this project)",
    )
    how.add_argument("--no", action="store_true", help="it may not; a question is not answered")
    how.add_argument(
        "--choose",
        action="append",
        default=[],
        metavar="OPTION",
        help="of a question: an option, its number, or a text; 2=OPTION of the second",
    )
    parser.add_argument("--reason", metavar="TEXT", default="", help="why not, for the agent")
    add_which(parser)


def _answer(arguments: Namespace, context: Context) -> int:
    from siding.asking.answer import answer, cancel
    from siding.asking.decisions.record import Via
    from siding.chat.answers import choices, permission, scope_named

    if arguments.reason and not arguments.no:
        raise UsageError("--reason goes with --no")
    always = scope_named(arguments.always or "")
    project, chat, named = _where(arguments, context)
    ask = _put(project, chat, named)
    if arguments.no and ask.questions:
        cancel(project, ask.decision, reason=arguments.reason, via=Via.TERMINAL)
    else:
        answers = (
            choices(ask, arguments.choose)
            if arguments.choose
            else permission(ask, allows=not arguments.no, always=always, reason=arguments.reason)
        )
        answer(project, ask.decision, answers, via=Via.TERMINAL)
    is_told = _is_told(chat, ask.ask)
    said = "is told" if is_told else "will be told"
    context.screen.note(f"{chat.id} · {inert(ask.title)} · the agent {said}", "green")
    if always is not None and ask.may:
        context.screen.note(f"  it may {inert(ask.may)}, {LASTS[always]}", "dim")
    if arguments.reason and not _takes_reasons(chat):
        context.screen.note("  it takes no reasons over its protocol: it hears the no alone", "dim")
    return 0


def _where(arguments: Namespace, context: Context) -> tuple[Project, Chat, str | None]:
    """Return the conversation that is meant, and what its ask is called there.

    An ask that is named says by itself which conversation it is of. Raises NotFound.
    """
    from siding.asking.lookup import id_in
    from siding.chat.answers import ask_anywhere

    project = opened(context)
    named = None if arguments.ask is None else id_in(project, arguments.ask)
    if named is not None and not (arguments.task or arguments.chat):
        somewhere = ask_anywhere(project, named)
        if somewhere is not None:
            return project, somewhere.chat, named
    _project, _task, chat = found(context, arguments.task, arguments.chat)
    return project, chat, named


def _put(project: Project, chat: Chat, named: str | None) -> OpenAsk:
    """Return the ask that is meant, once it is a decision. Raises NotFound."""
    from siding.asking.answer import open_decision
    from siding.chat.answers import find_ask
    from siding.chat.conversations import await_line

    try:
        ask = find_ask(chat.talk(), named)
    except NotFound:
        if named is not None:
            open_decision(project, named)  # raises what became of it
        raise
    if not ask.decision:
        wanted = ask.ask
        await_line(
            chat,
            lambda talk: all(each.decision for each in talk.asks if each.ask == wanted),
            _PUT_WITHIN_S,
        )
        ask = find_ask(chat.talk(), wanted)
    if not ask.decision:
        raise SidingError(
            "it is not a person's turn to answer: the policy is asked first",
            hint="try again in a moment",
        )
    return ask


def _is_told(chat: Chat, ask: str) -> bool:
    from siding.chat.conversations import await_line

    return await_line(chat, lambda talk: all(each.ask != ask for each in talk.asks), _TOLD_WITHIN_S)


def _takes_reasons(chat: Chat) -> bool:
    from siding.chat.abilities import abilities_of

    return abilities_of(chat.talk().agent).gives_reason


ANSWER = Verb(
    """\
Answer what the agent asks: the same decision as in `siding inbox`. The first answer counts.

What it may always do is shown with the ask, and listed by `siding chat always`.

  siding chat answer --yes
  siding chat answer --always task
  siding chat answer --no --reason 'not on a Friday'
  siding chat answer --choose Blue
""",
    _options,
    _answer,
)
