"""Talk with an agent in a task. It goes on without this terminal.

A host holds the agent over its own protocol, and keeps its queue and what it asks. What it asks is
put to you as any question is (`siding inbox`, the dashboard, a paired device). Each turn is a step.

  siding chat claude 'fix the parser'
  siding chat -- bc -l                    any program that answers lines
  siding chat send 'and its tests'
  siding chat show --follow
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from siding.faces.cli.chat.input import PROMPT_HELP, add_pictures, pictures_of, words_of
from siding.faces.cli.chat.settings import add_settings
from siding.faces.cli.chat.which import BY, workspace_of
from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.options import add_sandbox_arguments
from siding.faces.cli.screen.words import task_name
from siding.faces.cli.telling.below import list_below
from siding.ground.errors import UsageError


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("agent", metavar="AGENT", nargs="?", help="the agent, by its name")
    parser.add_argument("prompt", metavar="PROMPT", nargs="?", help=PROMPT_HELP)
    parser.add_argument(
        "words",
        metavar="ARG",
        nargs="*",
        help="after --: a program, and its arguments; it gets lines",
    )
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="WORD",
        help="a word for the agent's own command line, as --option=-m (repeatable)",
    )
    parser.add_argument("-t", "--task", metavar="TASK", help="the task (default: this terminal's)")
    parser.add_argument("--new", metavar="NAME", help="in a new task of this name")
    add_settings(parser)
    add_pictures(parser)
    parser.add_argument("-f", "--follow", action="store_true", help="show it as it goes on")
    add_sandbox_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print as JSON")
    parser.epilog = list_below("chat", "commands about a conversation")


def run(arguments: Namespace, context: Context) -> int:
    from siding.chat.conversations import (
        begin,
        ensure_host,
        give,
        require_settable,
        require_words,
        task_for,
    )
    from siding.faces.cli.telling.runs import sandbox_request
    from siding.record.place.project import ensure_project

    program = _program(arguments)
    if arguments.agent is None:
        from siding.faces.cli.chat.stories import LIST

        return LIST.run(arguments, context)
    # What cannot be given is known before anything is made.
    wanted = {name: getattr(arguments, name) for name in ("model", "mode", "effort")}
    require_settable(arguments.agent, **wanted)
    words, pictures = words_of(arguments), pictures_of(arguments, context)
    if words or (arguments.prompt is not None and not pictures):
        require_words(words)
    project, _made = ensure_project(context.app)
    context.screen.use_colour(project.settings.color)
    about = (arguments.agent, words[:200])
    task = task_for(project, arguments.task, new=arguments.new, about=about)
    options = program or arguments.option
    chat = begin(project, task, arguments.agent, options=options, by=BY, **wanted)
    prompt = ""
    if words or pictures:
        prompt = give(project, chat, words, by=BY, pictures=pictures)
    ensure_host(project, task, chat, sandbox_request(arguments))
    if arguments.json:
        print_json(context.screen, {"chat": chat.id, "task": task.id, "prompt": prompt})
    else:
        context.screen.note(f"{task_name(task.name)} · {chat.id} with {arguments.agent}")
        if program:
            context.screen.note(
                "  it is held by lines: that it has done is a guess, and what it was told ends "
                "with it",
                "dim",
            )
        if not arguments.follow:
            context.screen.note(
                "  siding chat show --follow · siding chat send TEXT · siding chat stop", "dim"
            )
    if not arguments.follow:
        return 0
    from siding.faces.cli.chat.stories import follow

    return follow(chat, context, workspace_of(project, task))


def _program(arguments: Namespace) -> list[str]:
    """Return the command line of a program that is to be held by lines; [] if an agent is meant.

    Whatever stands behind `--` is an argument; with an agent before it, one of those is its prompt.
    """
    from siding.chat.lines import line_agent

    typed: list[str] = arguments.typed
    behind = typed[typed.index("--") + 1 :] if "--" in typed else []
    given = [*filter(None, (arguments.agent, arguments.prompt)), *arguments.words]
    if not behind or given != behind:
        if arguments.words:
            raise UsageError(
                f"{arguments.words[0]!r} is one word too many",
                hint="a prompt of several words stands in quotes",
            )
        return []
    if arguments.option:
        raise UsageError("--option is for agents", hint="what a program is given stands behind it")
    arguments.agent, arguments.prompt, arguments.words = line_agent(behind[0]), None, []
    return behind
