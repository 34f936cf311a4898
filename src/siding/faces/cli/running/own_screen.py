"""Open a conversation on its agent's own screen, in this terminal, and take it back."""

import os
import sys
from argparse import Namespace

from siding.chat.handover import hand_over, refuse_on_screen, screen_of, stays_behind
from siding.chat.store import Chats
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import inert
from siding.faces.cli.screen.words import task_name
from siding.faces.cli.telling.runs import ask_seen, asker, say_run
from siding.ground.errors import UsageError, counted
from siding.record.place.project import Project, require_project
from siding.record.place.selection import select
from siding.running.request import RunRequest, RunResult
from siding.running.run import OnRunning, Terminal, choose_stdin
from siding.running.run import run as run_command

_BY = "terminal"


def open_own_screen(arguments: Namespace, context: Context) -> int:
    """Return the exit status of the screen. Raises UsageError and what refuses a run."""
    if arguments.run is not None or arguments.read_only:
        raise UsageError(
            "--own opens a conversation, not a run", hint="-c names it: siding attach --own -c c2"
        )
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError(
            "a screen needs a terminal on both sides",
            hint="`siding chat show --follow` prints what is said, `siding chat send` says it",
        )
    project = require_project(context.app)
    screen = context.screen
    screen.use_colour(project.settings.color)
    task = select(project, arguments.task)
    chat = Chats(project.task_layout(task.id)).find(arguments.chat)
    talk = chat.talk()
    refuse_on_screen(chat)
    screen_of(project, task, talk)
    name = f"{task_name(task.name)} · {chat.id}"
    screen.note(f"{name} · what does not come along to the screen of {talk.agent}:")
    for each in stays_behind(talk):
        screen.note(f"  {inert(each)}")
    if talk.queue:
        screen.note(f"  {counted(len(talk.queue), 'prompt')} in the queue: kept for afterwards")
    if talk.is_running:
        screen.note("it opens when the turn has ended (Ctrl-C leaves it as it is)", "dim")

    def runs(request: RunRequest, on_running: OnRunning) -> RunResult:
        return _shown(context, project, request, on_running)

    returned = hand_over(project, task, chat, runs=runs, by=_BY, forced=arguments.force)
    said = counted(returned.prompts, "prompt")
    then = "its host has it again" if returned.is_held_again else "a prompt goes on with it"
    screen.note(f"{name} · given back after {said} on the screen; {then}")
    return 0 if returned.result is None else returned.result.exit_code


def _shown(
    context: Context, project: Project, request: RunRequest, on_running: OnRunning
) -> RunResult:
    plan, _withheld = choose_stdin(None)
    terminal = Terminal(stdin=plan, pty=True, out=1, err=2)
    sys.stdout.flush()
    result = run_command(
        project,
        request,
        terminal,
        on_running=on_running,
        ask=asker(context.screen),
        ask_seen=ask_seen(context.screen),
    )
    try:
        say_run(context, result)
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:  # the terminal is gone: the conversation is given back all the same
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nothing, number)
        os.close(nothing)
    return result
