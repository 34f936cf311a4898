"""``siding agent`` outside of a run: it becomes one."""

import sys
from argparse import Namespace
from typing import TYPE_CHECKING

from siding.assistant.opening import Options
from siding.assistant.settings import values_here, with_settings
from siding.assistant.starting import bring_conversation, command_of, model_in_force
from siding.faces.cli.assistant.flags import no_prompt
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import inert
from siding.faces.cli.telling.guards import ask_guard_once
from siding.faces.cli.telling.rulings import asker
from siding.faces.cli.telling.runs import say_run
from siding.faces.cli.telling.sandbox_flags import sandbox_request
from siding.faces.cli.telling.seeing import ask_seen
from siding.record.place.project import ensure_project
from siding.running.run import RunRequest, Terminal, choose_stdin
from siding.running.run import run as run_command

if TYPE_CHECKING:
    from siding.tasks.start import Started


def start(arguments: Namespace, options: Options, context: Context) -> int:
    """Run the agent in the task's workspace; return its exit status."""
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
    talks = not arguments.print and arguments.output_format == "text"
    pty = talks and sys.stdin.isatty() and sys.stdout.isatty()
    # A client of the stream may wait for an answer before it says anything.
    reads = arguments.input_format == "stream-json" or (arguments.print and not arguments.prompt)
    plan, _withheld = choose_stdin(True if reads else None)
    return Terminal(stdin=plan, pty=pty, out=1, err=2)


def _say_started(context: Context, started: "Started") -> None:
    from siding.faces.cli.telling.started import say_started

    say_started(context.screen, started)
