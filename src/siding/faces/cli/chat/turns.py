"""Stop a turn, and end the agent."""

from __future__ import annotations

from argparse import Namespace

from siding.faces.cli.chat.which import BY, add_which, found
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.words import task_name
from siding.faces.cli.verb import Verb
from siding.ground.errors import UsageError


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
