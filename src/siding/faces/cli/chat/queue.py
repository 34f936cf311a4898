"""What waits for an agent: list it, change a prompt, its place, drop it, send it again, go on."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.chat.which import BY, add_which, found
from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.words import task_name
from siding.faces.cli.verb import Verb
from siding.ground.errors import UsageError

if TYPE_CHECKING:
    from siding.chat.conversations import Task
    from siding.chat.prompts import Prompt
    from siding.chat.requests import Request
    from siding.chat.store import Chat
    from siding.record.place.project import Project

_WORD = "its number in `siding chat queue`, or the beginning of its id"


def _queue_options(parser: ArgumentParser) -> None:
    add_which(parser)
    parser.add_argument("-a", "--all", action="store_true", help="those that have gone as well")
    parser.add_argument("--json", action="store_true", help="print as JSON")


def _queue(arguments: Namespace, context: Context) -> int:
    from siding.chat.prompts import SHORT, prompts_of
    from siding.faces.cli.screen.table import print_table
    from siding.faces.cli.screen.words import ago

    _project, task, chat = found(context, arguments.task, arguments.chat)
    prompts = prompts_of(chat)
    state = chat.present().standing
    shown = list(prompts.all) if arguments.all else prompts.open()
    if arguments.json:
        record = {"chat": chat.id, "task": task.id, "state": state.value}
        print_json(context.screen, {**record, "prompts": [each.as_record() for each in shown]})
        return 0
    if shown:
        rows = [
            (
                str(each.number),
                each.id[:SHORT],
                each.fate.value,
                each.by,
                ago(each.at),
                _one_line(each),
            )
            for each in shown
        ]
        print_table(context.screen, ("NO", "ID", "STATE", "BY", "SINCE", "PROMPT"), rows)
    else:
        context.screen.note(f"{task_name(task.name)} · {chat.id} · nothing waits")
    if prompts.talk.unsure:
        context.screen.note(
            "  nobody knows whether the agent has an unsure one: "
            "siding chat again PROMPT · siding chat drop PROMPT",
            "yellow",
        )
    elif prompts.talk.is_paused and prompts.talk.queue:
        context.screen.note(f"  held: {prompts.talk.trouble} · siding chat go-on", "yellow")
    return 0


QUEUE = Verb(
    """\
List what waits for the agent, with the number of each prompt. A number stays that of its prompt.
""",
    _queue_options,
    _queue,
)


def _one_line(prompt: Prompt) -> str:
    pictures = f" (+{len(prompt.files)} pictures)" if len(prompt.files) > 1 else " (+1 picture)"
    first, _, more = prompt.text.strip().partition("\n")
    return f"{first[:200]}{' …' if more else ''}{pictures if prompt.files else ''}"


# -- edit ------------------------------------------------------------------------------------------


def _edit_options(parser: ArgumentParser) -> None:
    parser.add_argument("prompt", metavar="PROMPT", help=_WORD)
    parser.add_argument("text", metavar="TEXT", nargs="?", help="- reads it from input")
    add_which(parser)


def _edit(arguments: Namespace, context: Context) -> int:
    from siding.chat.conversations import require_words
    from siding.chat.drafts import Draft
    from siding.chat.outcome import TooLate
    from siding.chat.prompts import Fate, prompts_of
    from siding.chat.requests import EditPrompt
    from siding.faces.cli.chat.input import text_of

    project, task, chat = found(context, arguments.task, arguments.chat)
    prompt = prompts_of(chat).find(arguments.prompt)
    before = chat.prompt(prompt.id) or prompt.text
    draft = None
    if arguments.text is None:
        if prompt.fate is not Fate.WAITS:
            raise _too_late(chat, prompt.id, "edited")
        _require_terminal()
        draft = Draft(chat, context.app.random_bytes(4).hex(), before)
        words = draft.edited(context.app.env)
    else:
        words = text_of(arguments.text)
    if words == before:
        context.screen.note(f"{chat.id} · prompt {prompt.number} is as it was")
    else:
        try:
            require_words(words)
            _carry_out(project, task, chat, EditPrompt(prompt.id, words), prompt.id, "edited")
        except (TooLate, UsageError) as error:
            if draft is not None:
                error.hint = f"your text is in {str(draft.path)!r}"
            raise
        context.screen.note(f"{chat.id} · prompt {prompt.number} is changed")
    if draft is not None:
        draft.remove()
    return 0


def _require_terminal() -> None:
    import os

    if not (os.isatty(0) and os.isatty(1)):
        raise UsageError(
            "there is no terminal for an editor", hint="siding chat edit PROMPT TEXT; - reads it"
        )


EDIT = Verb(
    """\
Change the text of a prompt that waits; without TEXT in your editor.

The editor is $SIDING_EDITOR, $VISUAL or $EDITOR. One that the agent has got meanwhile is not
changed, and that is an error.
""",
    _edit_options,
    _edit,
)


# -- move ------------------------------------------------------------------------------------------


def _move_options(parser: ArgumentParser) -> None:
    parser.add_argument("prompt", metavar="PROMPT", help=_WORD)
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--before", metavar="OTHER", help="right before this one")
    where.add_argument("--first", action="store_true", help="it is the next one")
    where.add_argument("--last", action="store_true", help="behind all others")
    add_which(parser)


def _move(arguments: Namespace, context: Context) -> int:
    from siding.chat.prompts import prompts_of
    from siding.chat.requests import FIRST, MovePrompt

    project, task, chat = found(context, arguments.task, arguments.chat)
    prompts = prompts_of(chat)
    prompt = prompts.find(arguments.prompt)
    before = FIRST if arguments.first else ""
    if arguments.before is not None:
        other = prompts.find(arguments.before)
        if other.id == prompt.id:
            raise UsageError("a prompt cannot be put before itself")
        before = other.id
    _carry_out(project, task, chat, MovePrompt(prompt.id, before), prompt.id, "moved", before)
    place = [each.number for each in prompts_of(chat).open() if each.fate.value == "waits"]
    order = ", ".join(str(each) for each in place)
    context.screen.note(f"{chat.id} · prompt {prompt.number} is moved; what waits is {order}")
    return 0


MOVE = Verb("Put a prompt that waits elsewhere in the queue.\n", _move_options, _move)


# -- drop, again, go-on ----------------------------------------------------------------------------


def _drop_options(parser: ArgumentParser) -> None:
    parser.add_argument("prompts", metavar="PROMPT", nargs="+", help=_WORD)
    add_which(parser)


def _drop(arguments: Namespace, context: Context) -> int:
    from siding.chat.outcome import TooLate
    from siding.chat.prompts import prompts_of
    from siding.chat.requests import DropPrompt

    project, task, chat = found(context, arguments.task, arguments.chat)
    prompts = prompts_of(chat)
    named = {each.id: each for each in map(prompts.find, arguments.prompts)}
    late: list[TooLate] = []
    for prompt in named.values():
        try:
            _carry_out(project, task, chat, DropPrompt(prompt.id), prompt.id, "dropped")
        except TooLate as error:
            late.append(error)
        else:
            context.screen.note(f"{chat.id} · prompt {prompt.number} is dropped")
    if late:
        raise TooLate("; ".join(each.message for each in late), hint=late[0].hint)
    return 0


DROP = Verb(
    """\
Drop prompts that wait, or that are unsure: the agent does not get them.
""",
    _drop_options,
    _drop,
)


def _again_options(parser: ArgumentParser) -> None:
    parser.add_argument("prompt", metavar="PROMPT", help=_WORD)
    add_which(parser)


def _again(arguments: Namespace, context: Context) -> int:
    from siding.chat.conversations import ensure_host
    from siding.chat.prompts import prompts_of
    from siding.chat.requests import SendAgain

    project, task, chat = found(context, arguments.task, arguments.chat)
    prompt = prompts_of(chat).find(arguments.prompt)
    _carry_out(project, task, chat, SendAgain(prompt.id), prompt.id, "sent again")
    ensure_host(project, task, chat)
    context.screen.note(f"{chat.id} · prompt {prompt.number} is sent again")
    return 0


AGAIN = Verb(
    """\
Send a prompt again of which nobody knows whether the agent has it (`unsure` in the queue).

If the agent had it, it gets it twice. `siding chat drop` leaves it.
""",
    _again_options,
    _again,
)


def _go_on(arguments: Namespace, context: Context) -> int:
    from siding.chat.conversations import ensure_host
    from siding.chat.outcome import carried_out
    from siding.chat.prompts import prompts_of
    from siding.chat.requests import GoOn
    from siding.ground.errors import counted

    project, task, chat = found(context, arguments.task, arguments.chat)
    talk = prompts_of(chat).talk
    if talk.unsure:
        raise UsageError(
            "nothing is sent before an unsure prompt is settled",
            hint="`siding chat queue` shows it; `siding chat again` or `siding chat drop`",
        )
    if not talk.queue or (chat.has_host() and not talk.is_paused):
        context.screen.note(f"{chat.id} · nothing is held")
        return 0
    carried_out(project, task, chat, GoOn(), by=BY)
    ensure_host(project, task, chat)
    context.screen.note(f"{chat.id} · it goes on with {counted(len(talk.queue), 'prompt')}")
    return 0


GO_ON = Verb(
    """\
Send what waits where it is held: by a limit or a login of the agent, or because the agent ended.
""",
    add_which,
    _go_on,
)


# -- what became of it -----------------------------------------------------------------------------


def _carry_out(
    project: Project,
    task: Task,
    chat: Chat,
    request: Request,
    prompt: str,
    done: str,
    before: str = "",
) -> None:
    """Have a request about a prompt carried out. Raises TooLate if it had no effect."""
    from siding.chat.outcome import carried_out

    if not carried_out(project, task, chat, request, by=BY):
        raise _too_late(chat, prompt, done, before)


def _too_late(chat: Chat, prompt: str, done: str, before: str = "") -> Exception:
    from siding.chat.outcome import TooLate
    from siding.chat.prompts import Fate, prompts_of

    prompts = prompts_of(chat)
    gone = prompts.find(prompt)
    if before and gone.fate is Fate.WAITS:
        gone = prompts.find(before)  # the one before which it was to be put
    why, hint = {
        Fate.WAITS: ("it waits to be sent", None),
        Fate.SENT: ("the agent has it", "`siding chat stop` ends its turn"),
        Fate.TAKEN: ("the agent has it", "`siding chat stop` ends its turn, if that runs"),
        Fate.DROPPED: ("it was dropped", "`siding chat send TEXT` gives one"),
        Fate.UNSURE: (
            "nobody knows whether the agent has it",
            "`siding chat again` sends it again, `siding chat drop` leaves it",
        ),
    }[gone.fate]
    what = "" if gone.id == prompt else f"prompt {prompts.find(prompt).number} is not {done}: "
    if what:
        return TooLate(f"{what}of prompt {gone.number}, {why}", hint=hint)
    return TooLate(f"prompt {gone.number} is not {done}: {why}", hint=hint)
