"""Give an agent a prompt: the next one, or into the turn that runs."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from siding.faces.cli.chat.input import PROMPT_HELP, add_pictures, pictures_of, words_of
from siding.faces.cli.chat.which import BY, add_which, found
from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.words import task_name
from siding.faces.cli.verb import Verb


def _options(parser: ArgumentParser) -> None:
    parser.add_argument("prompt", metavar="PROMPT", nargs="?", help=PROMPT_HELP)
    add_pictures(parser)
    add_which(parser)
    parser.add_argument("--json", action="store_true", help="print as JSON")


def _send_options(parser: ArgumentParser) -> None:
    _options(parser)
    parser.add_argument(
        "--remember",
        action="store_true",
        help="the agent is told what was undone, and does not forget it",
    )


def _give(arguments: Namespace, context: Context, *, steers: bool) -> int:
    from siding.chat.conversations import ensure_host, give, refuse_steer

    project, task, chat = found(context, arguments.task, arguments.chat)
    if steers:
        refuse_steer(chat)
    words, pictures = words_of(arguments), pictures_of(arguments, context)
    remembers = not steers and arguments.remember
    prompt = give(
        project, chat, words, by=BY, pictures=pictures, steers=steers, remembers=remembers
    )
    ensure_host(project, task, chat)
    if arguments.json:
        print_json(context.screen, {"chat": chat.id, "task": task.id, "prompt": prompt})
        return 0
    from siding.chat.prompts import prompts_of

    number = prompts_of(chat).find(prompt).number
    context.screen.note(f"{task_name(task.name)} · {chat.id} · prompt {number}")
    return 0


SEND = Verb(
    """\
Give the agent a prompt. It waits until the turn that runs has ended, and those before it.

  siding chat send 'and its tests'
  siding chat send --picture screen.png 'why is this red?'
  git diff | siding chat send

After an undo, an agent that can goes back to before the first turn that was undone; --remember has
it told instead.
""",
    _send_options,
    lambda arguments, context: _give(arguments, context, steers=False),
)
STEER = Verb(
    """\
Give the agent a prompt into the turn that runs, where the agent can take one.

If the turn ends before the agent has taken it, it is the next prompt.
""",
    _options,
    lambda arguments, context: _give(arguments, context, steers=True),
)
