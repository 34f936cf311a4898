"""What an agent works with, its own commands, and what can be asked of each agent."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.chat.which import BY, add_which, found
from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import inert
from siding.faces.cli.screen.words import task_name
from siding.faces.cli.verb import Verb
from siding.ground.errors import SidingError, UsageError

if TYPE_CHECKING:
    from siding.chat.requests import Change
    from siding.chat.talk import Talk

SETTINGS = (
    ("model", "MODEL", "in the agent's own words"),
    ("mode", "MODE", "what it may do without asking, in its own words"),
    ("effort", "EFFORT", "how much it thinks, in its own words"),
)


def add_settings(parser: ArgumentParser) -> None:
    for name, metavar, about in SETTINGS:
        parser.add_argument(f"--{name}", metavar=metavar, default="", help=about)


def _set_options(parser: ArgumentParser) -> None:
    add_settings(parser)
    add_which(parser)
    parser.add_argument("--json", action="store_true", help="print what holds as JSON")


def _set(arguments: Namespace, context: Context) -> int:
    from siding.chat.requests import Change
    from siding.chat.settings import Changed, change, own_of

    project, task, chat = found(context, arguments.task, arguments.chat)
    wanted = Change(arguments.model, arguments.mode, arguments.effort)
    if any(wanted):
        now = change(project, task, chat, wanted, by=BY)
    else:
        now = Changed(chat.talk(), is_read_back=True)
    if now.trouble:
        raise SidingError(
            f"the agent has not changed it: {now.trouble}", hint=f"what holds: {_words(now.talk)}"
        )
    if arguments.json:
        talk = now.talk
        fields = {"model": talk.model, "mode": talk.mode, "effort": talk.effort}
        print_json(context.screen, {"chat": chat.id, "task": task.id, **fields})
        return 0
    said = f"{task_name(task.name)} · {chat.id} · {_words(now.talk)}"
    if now.is_read_back:
        context.screen.note(said)
    elif now.has_agent:
        context.screen.note(f"{said} · the agent is told and has not said what holds", "yellow")
    else:
        context.screen.note(f"{said} · the agent begins so with the next prompt")
    if now.is_read_back:
        _say_what_differs(context, wanted, now.talk)
    own = own_of(chat)
    for name, words in (("modes", own.modes), ("models", own.models)):
        if words and not any(wanted):
            context.screen.note(f"  {name}: {', '.join(inert(each) for each in words)}", "dim")
    return 0


SET = Verb(
    """\
Change the model, the mode or the effort of an agent; without any show what holds.

What is printed is what the agent has read back: it may know a model by another name.
""",
    _set_options,
    _set,
)


def _say_what_differs(context: Context, wanted: Change, talk: Talk) -> None:
    """Say which setting is not as it was asked for: an agent may know it by another name, or not
    have it with its model."""
    for name, value in wanted._asdict().items():
        holds = getattr(talk, name)
        if value and value != holds:
            said = f"the {name} is {inert(holds) or 'not known'}, and {inert(value)} was asked for"
            context.screen.note(f"  {said}", "yellow")


def _words(talk: Talk) -> str:
    pairs = (("model", talk.model), ("mode", talk.mode), ("effort", talk.effort))
    return " · ".join(f"{name} {inert(value)}" for name, value in pairs if value) or "as usual"


def _compact(arguments: Namespace, context: Context) -> int:
    from siding.chat.abilities import abilities_of
    from siding.chat.conversations import ensure_host, put
    from siding.chat.requests import Compact

    project, task, chat = found(context, arguments.task, arguments.chat)
    agent = chat.talk().agent
    if not abilities_of(agent).compacts:
        raise UsageError(
            f"{agent} is not told over its protocol to compact a conversation",
            hint="`siding chat commands` lists its own commands; one is sent as a prompt",
        )
    put(project, chat, Compact(), by=BY)
    ensure_host(project, task, chat)
    context.screen.note(
        f"{task_name(task.name)} · {chat.id} · it is made shorter when no turn runs"
    )
    return 0


COMPACT = Verb(
    """\
Have the agent make its conversation shorter, when the turn that runs has ended.
""",
    add_which,
    _compact,
)


def _commands_options(parser: ArgumentParser) -> None:
    add_which(parser)
    parser.add_argument("--json", action="store_true", help="print as JSON")


def _commands(arguments: Namespace, context: Context) -> int:
    from siding.chat.abilities import abilities_of
    from siding.chat.settings import own_of
    from siding.faces.cli.screen.table import print_table

    _project, _task, chat = found(context, arguments.task, arguments.chat)
    own = own_of(chat)
    if arguments.json:
        listed = [{"name": name, "about": about} for name, about in own.commands]
        print_json(context.screen, listed)
        return 0
    if own.commands:
        print_table(context.screen, ("COMMAND", "WHAT IT DOES"), own.commands)
        context.screen.note("  one is sent as a prompt: siding chat send /NAME", "dim")
        return 0
    agent = chat.talk().agent
    if not abilities_of(agent).commands:
        context.screen.note(f"{chat.id} · {agent} does not say which commands it has")
    elif not own.has_said:
        context.screen.note(f"{chat.id} · {agent} says it when it is open: it has not been so yet")
    else:
        context.screen.note(f"{chat.id} · {agent} has none")
    return 0


COMMANDS = Verb(
    """\
List the agent's own commands, as it has told them: `/compact`, `/review`, those of its plugins.
""",
    _commands_options,
    _commands,
)


def _abilities_options(parser: ArgumentParser) -> None:
    parser.add_argument("agent", metavar="AGENT", nargs="?", help="of this one (default: all)")
    parser.add_argument("--json", action="store_true", help="print as JSON")


def _abilities(arguments: Namespace, context: Context) -> int:
    from siding.chat.abilities import Can, abilities_of, all_abilities, rows
    from siding.faces.cli.screen.table import print_table

    agent = arguments.agent
    shown = all_abilities() if agent is None else [Can(agent, abilities_of(agent))]
    if arguments.json:
        print_json(context.screen, [each.as_record() for each in shown])
        return 0
    print_table(context.screen, ("IT", *(each.agent for each in shown)), rows(shown))
    return 0


ABILITIES = Verb(
    """\
Show what can be asked of each agent in a conversation.
""",
    _abilities_options,
    _abilities,
)
