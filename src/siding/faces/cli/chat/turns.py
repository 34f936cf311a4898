"""Wait for a turn, stop it, and end the agent."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from siding.faces.cli.chat.which import BY, add_which, found
from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import inert
from siding.faces.cli.screen.words import seconds_in, task_name
from siding.faces.cli.verb import Verb
from siding.ground.errors import UsageError

_NEEDS_A_PERSON = 5
_TIMED_OUT = 124


def _stop(arguments: Namespace, context: Context) -> int:
    from siding.chat.conversations import put
    from siding.chat.handover import refuse_on_screen
    from siding.chat.requests import StopTurn

    project, task, chat = found(context, arguments.task, arguments.chat)
    refuse_on_screen(chat)
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


def _end_options(parser: ArgumentParser) -> None:
    add_which(parser)
    parser.add_argument("--now", action="store_true", help="do not wait for the turn that runs")


def _end(arguments: Namespace, context: Context) -> int:
    from siding.chat.conversations import put
    from siding.chat.handover import refuse_on_screen
    from siding.chat.requests import EndTalk

    project, task, chat = found(context, arguments.task, arguments.chat)
    refuse_on_screen(chat)
    if not chat.has_host():
        context.screen.note(f"{chat.id} has no agent running")
        return 0
    put(project, chat, EndTalk(now=arguments.now), by=BY)
    when = "now" if arguments.now else "with this turn"
    context.screen.note(f"{task_name(task.name)} · {chat.id} ends {when}; a prompt brings it back")
    return 0


END = Verb(
    """\
End the agent when its turn has ended. The conversation stays; the next prompt goes on with it.
""",
    _end_options,
    _end,
)


def _wait_options(parser: ArgumentParser) -> None:
    parser.add_argument("--turn", action="store_true", help="for the end of one turn alone")
    parser.add_argument("--timeout", metavar="TIME", help="wait no longer than 90, 90s, 5m, 1h30m")
    add_which(parser)
    parser.add_argument("--json", action="store_true", help="print as JSON")


def _wait(arguments: Namespace, context: Context) -> int:
    from siding.chat.rest import Kind, await_rest

    seconds = None if arguments.timeout is None else seconds_in(arguments.timeout)
    if arguments.timeout is not None and seconds is None:
        raise UsageError(f"--timeout {arguments.timeout!r} is no time", hint="such as 90s or 5m")
    _project, task, chat = found(context, arguments.task, arguments.chat)
    rest = await_rest(chat, timeout_s=seconds, turn=arguments.turn)
    if arguments.json:
        record = {"chat": chat.id, "task": task.id}
        if rest is not None:
            decisions = [each.decision for each in rest.talk.asks]
            record |= {"is": rest.kind.value, "why": rest.why}
            print_json(context.screen, {**record, "decisions": decisions})
        else:
            print_json(context.screen, {**record, "is": "running", "why": "", "decisions": []})
    elif rest is None:
        context.screen.note(f"{chat.id} · it still works, after {arguments.timeout}", "yellow")
    else:
        said = f"{chat.id} · {inert(rest.why) or rest.kind.value}"
        context.screen.note(said, "green" if rest.kind is Kind.DONE else "yellow")
    if rest is None:
        return _TIMED_OUT
    return {Kind.DONE: 0, Kind.PERSON: _NEEDS_A_PERSON}.get(rest.kind, 1)


WAIT = Verb(
    """\
Wait until the agent has done all that it was given, or waits for a person.

The exit status is 0 when it has done it, 1 if its last turn failed or was stopped, 5 if a person is
needed (it asks, or a prompt is held or unsure), and 124 after --timeout.

  siding chat send 'and its tests' && siding chat wait && siding diff
""",
    _wait_options,
    _wait,
)
