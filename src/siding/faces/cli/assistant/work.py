"""Work on a task with Siding's own agent: it needs a key of a model's provider, or a local model.

It runs as `siding run` runs any agent: in the task's workspace, each turn recorded as a step that
`siding undo` takes back with the conversation. With -p it answers one prompt and ends; at a
terminal it goes on with what you type.

  siding agent -p 'fix the parser'
  siding agent --continue
  git diff | siding agent -p 'review this' --output-format json

The name of one of these commands, as the first word, is that command: `siding agent doctor`. A
prompt of this one word stands behind an option, or behind `--`: siding agent -p -- doctor.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.assistant import flags
from siding.faces.cli.assistant.flags import no_prompt
from siding.faces.cli.globals import Context
from siding.faces.cli.options import add_sandbox_arguments
from siding.faces.cli.screen.screen import inert
from siding.faces.cli.telling.below import list_below

if TYPE_CHECKING:
    from siding.assistant.opening import Options
    from siding.running.run import Terminal
    from siding.tasks.start import Started


def add_arguments(parser: ArgumentParser) -> None:
    flags.add_arguments(parser)
    group = parser.add_argument_group("the run that it is")
    group.add_argument("-t", "--task", metavar="TASK", help="the task (default: this terminal's)")
    add_sandbox_arguments(parser)
    parser.epilog = list_below("agent", "commands about the agent and its conversations")


def run(arguments: Namespace, context: Context) -> int:
    from siding.assistant.starting import is_inside

    if is_inside(context.app):
        from siding.faces.cli.assistant.serving import serve

        return serve(arguments, context)
    from siding.faces.cli.assistant.options import options_of

    # What is wrong with them is said before anything begins.
    options = options_of(arguments, context.app.cwd)
    return start(arguments, options, context)


def start(arguments: Namespace, options: Options, context: Context) -> int:
    """Run the agent in the task's workspace; return its exit status."""
    from siding.assistant.settings import values_here, with_settings
    from siding.assistant.starting import bring_conversation, command_of, model_in_force
    from siding.faces.cli.telling.runs import (
        ask_guard_once,
        ask_seen,
        asker,
        sandbox_request,
        say_run,
    )
    from siding.record.place.project import ensure_project
    from siding.running.run import RunRequest
    from siding.running.run import run as run_command

    screen = context.screen
    if arguments.print and not arguments.prompt and sys.stdin.isatty():
        raise no_prompt(arguments)
    app = with_settings(context.app, options.flags)
    model_in_force(app, values_here(app, options.flags))
    if options.which.resumes:
        imported = bring_conversation(app, options.which.resumes)
        if imported is not None:
            screen.note(f"imported {inert(str(imported))}")
    request = RunRequest(
        argv=command_of(app, arguments.typed),
        task=arguments.task,
        prompt=" ".join(arguments.prompt),
        sandbox=sandbox_request(arguments),
    )
    if arguments.output_format == "text":
        ask_guard_once(context, request)
    elif arguments.output_format == "stream-json":
        # Programs take what is on standard error for a mistake, and pass --verbose.
        screen.quiet, screen.verbose = True, False
    project, made = ensure_project(app)
    screen.use_colour(project.settings.color)
    if made:
        screen.note(f"made a project of {project.paths.root}")
    sys.stdout.flush()
    result = run_command(
        project,
        request,
        _terminal(arguments),
        on_started=lambda started: _say_started(context, started),
        ask=asker(screen),
        ask_seen=ask_seen(screen),
    )
    say_run(context, result)
    return result.exit_code


def _terminal(arguments: Namespace) -> Terminal:
    """Return which streams the agent gets: a terminal of its own only to talk with a person."""
    from siding.running.run import Terminal, choose_stdin

    talks = not arguments.print and arguments.output_format == "text"
    pty = talks and sys.stdin.isatty() and sys.stdout.isatty()
    # A client of the stream may wait for an answer before it says anything.
    reads = arguments.input_format == "stream-json" or (arguments.print and not arguments.prompt)
    plan, _withheld = choose_stdin(True if reads else None)
    return Terminal(stdin=plan, pty=pty, out=1, err=2)


def _say_started(context: Context, started: Started) -> None:
    from siding.faces.cli.telling.started import say_started

    say_started(context.screen, started)
