"""Run a command in the task's own workspace and record what it did.

Without an active task one is started, named after the command. --new starts one in any case; the
terminal is about that one afterwards, as after `siding task start`. The command's output goes to
the screen as it comes; the step keeps it, the files it changed and how it ended. The exit status is
the command's own (124 after a timeout, 125 after another limit, 130 after Ctrl-C, 126 and 127 as a
shell has them).

  siding run -- claude -p 'fix the parser'
  siding run --timeout 5m --task parser -- pytest -q
  siding run --new -- codex exec 'speed up the lexer'
"""

from __future__ import annotations

import sys
from argparse import REMAINDER, ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.edge import guarded
from siding.faces.cli.globals import Context
from siding.faces.cli.options import add_sandbox_arguments, add_terminal_arguments
from siding.faces.cli.screen.words import seconds_in, task_name
from siding.ground.errors import SidingError, UsageError

if TYPE_CHECKING:
    from siding.record.place.project import Project
    from siding.running.run import OnRunning, RunRequest, Terminal
    from siding.tasks.start import Started


LEAVE = ("keep", "end")
JUDGE = ("off", "on", "require")


def add_arguments(parser: ArgumentParser) -> None:
    parser.usage = f"{parser.prog} [OPTIONS] -- COMMAND [ARGUMENT ...]"
    parser.add_argument("-t", "--task", metavar="TASK", help="the task (default: this terminal's)")
    parser.add_argument(
        "--new",
        nargs="?",
        const="",
        metavar="NAME",
        help="in a new task of this name (default: named after the command)",
    )
    parser.add_argument("--timeout", metavar="TIME", help="end everything after 90, 90s, 5m, 1h30m")
    parser.add_argument(
        "-e",
        "--env",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="set a variable (repeatable)",
    )
    parser.add_argument("--cwd", metavar="DIR", help="run in this directory of the workspace")
    parser.add_argument("--no-record", action="store_true", help="do not make a step")
    parser.add_argument(
        "--allow",
        action="append",
        default=[],
        metavar="RULE",
        help="answer what this rule of the policy asks with yes (repeatable; recorded)",
    )
    add_sandbox_arguments(parser)
    add_terminal_arguments(parser)
    parser.add_argument(
        "--wait", action="store_true", help="wait until nothing else runs in the task"
    )
    parser.add_argument(
        "-d",
        "--detach",
        action="store_true",
        help="go on in the background (`siding output`)",
    )
    parser.add_argument(
        "--survive",
        action="store_true",
        help="with --detach: the command goes on even if Siding's own process is killed",
    )
    parser.add_argument("--name", metavar="NAME", default="", help="a name for the run")
    for name, what in (("every", "so often"), ("quiet", "after so long without output and work")):
        parser.add_argument(
            f"--checkpoint-{name}",
            metavar="TIME",
            help=f"record the workspace {what}, while it runs; never: not at all",
        )
    parser.add_argument(
        "--leave",
        choices=LEAVE,
        default="",
        help="what the command leaves running when it ends: keep it (`siding runs`), or end it",
    )
    _add_agent_arguments(parser)
    parser.add_argument(
        "command", nargs=REMAINDER, metavar="COMMAND", help="the command and its arguments"
    )


def _add_agent_arguments(parser: ArgumentParser) -> None:
    """Add the options about an agent that is run."""
    parser.add_argument(
        "--judge",
        choices=JUDGE,
        default="",
        help="have the policy judge the commands that an agent runs; require: or none runs",
    )
    parser.add_argument(
        "--ask",
        default="",
        metavar="TIME",
        help="how long a question about what an agent may do waits for you: wait, deny, or a time "
        "(as set: as long as it takes if you are there, else 60s)",
    )
    parser.add_argument(
        "--no-reports",
        dest="reports",
        action="store_false",
        help="do not have the agent report its turns",
    )
    meter = parser.add_mutually_exclusive_group()
    meter.add_argument(
        "--meter",
        action="store_true",
        default=None,
        help="measure its requests to models on the wire: tokens, latency, errors (`siding show`)",
    )
    meter.add_argument(
        "--no-meter", dest="meter", action="store_false", help="do not, if it is set"
    )
    parser.add_argument(
        "--over-limit",
        action="store_true",
        help="limits of what agents may use (`usage` in the settings) do not count for this run",
    )


def run(arguments: Namespace, context: Context) -> int:
    from siding.faces.cli.telling.runs import ask_guard_once, terminal_of

    request = _request(arguments)
    if request.new is not None and request.task is not None:
        raise UsageError("--new makes a task, and --task names one", hint="leave one of them out")
    if arguments.survive and not arguments.detach:
        raise UsageError(
            "--survive is for a command in the background", hint="add --detach, or leave it out"
        )
    if not arguments.json:
        ask_guard_once(context, request)
    if arguments.detach:
        return _detached(arguments, context, request)
    terminal, withheld = terminal_of(arguments)
    if withheld:
        context.screen.note(
            "nothing came on standard input, so the command gets none; "
            "--stdin pass hands it on all the same"
        )
    return _run(arguments, context, request, terminal)


def _detached(arguments: Namespace, context: Context, request: RunRequest) -> int:
    from siding.running.detached import detached, may_talk, terminal_for  # 1 ms

    at_terminal = sys.stdin.isatty() and sys.stdout.isatty() and not arguments.json
    terminal = terminal_for(request.argv, wanted=arguments.tty, at_terminal=at_terminal)
    begun = detached(
        context.app,
        lambda app, on_running: guarded(
            lambda: _run(arguments, context._replace(app=app), request, terminal, on_running)
        ),
    )
    if isinstance(begun, int):
        return begun
    context.screen.note(f"{task_name(begun.task_name)} · {begun.run_id} runs in the background")
    run = begun.run_id
    watch = f"siding attach {run}" if terminal.pty else f"siding output {run} --follow"
    context.screen.note(f"  {watch} · siding stop {run}", "dim")
    if at_terminal and arguments.tty is None and not terminal.pty and may_talk(request.argv):
        context.screen.note(
            "  it has nothing to read; --tty gives it a terminal to type into", "dim"
        )
    if arguments.json:
        from siding.faces.cli.formats import print_json

        print_json(context.screen, {"run": begun.run_id, "task": begun.task_id})
    return 0


def _run(
    arguments: Namespace,
    context: Context,
    request: RunRequest,
    terminal: Terminal,
    on_running: OnRunning | None = None,
) -> int:
    from siding.faces.cli.telling.runs import ask_seen, asker, say_run
    from siding.record.place.project import ensure_project
    from siding.running.run import run as run_command

    screen = context.screen
    project, made = ensure_project(context.app)
    screen.use_colour(project.settings.color)
    if made:
        screen.note(f"made a project of {project.paths.root}")
    sys.stdout.flush()
    result = run_command(
        project,
        request,
        terminal,
        on_started=lambda started: _say_started(context, project, started),
        on_running=on_running,
        ask=asker(screen),
        ask_seen=ask_seen(screen),
    )
    say_run(context, result)
    if arguments.json and result.step is not None:
        from siding.faces.cli.formats import print_json

        print_json(screen, result.step.line)
    return result.exit_code


def _say_started(context: Context, project: Project, started: Started) -> None:
    # Loading it takes 10 ms, which a run in an existing task saves.
    from siding.faces.cli.telling.started import say_started
    from siding.record.place.selection import task_before

    say_started(context.screen, started)
    try:
        left = task_before(project)
    except SidingError:
        return  # there was none, or it is gone
    if left.status.value != "closed":  # it is by --new alone that a run leaves an open task
        context.screen.note(
            f"  this terminal is about it now; `siding switch -` goes back to {left.name!r}"
        )


def _request(arguments: Namespace) -> RunRequest:
    from siding.faces.cli.telling.runs import sandbox_request
    from siding.running.request import AskedTurns
    from siding.running.run import RunRequest

    command = list(arguments.command)
    if command[:1] == ["--"]:
        command = command[1:]
    if not command or not command[0]:
        new = "" if arguments.new is None else f"--new {arguments.new or '[NAME]'} "
        hint = f"siding run {new}-- COMMAND [ARGUMENT ...]"
        raise UsageError("there is no command to run", hint=hint)
    asked = arguments.checkpoint_every, arguments.checkpoint_quiet
    if arguments.no_record and any(each not in (None, "never") for each in asked):
        raise UsageError("--no-record records nothing, and so no turns")
    timeout_s = None
    if arguments.timeout is not None:
        timeout_s = seconds_in(arguments.timeout)
        if timeout_s is None:
            raise UsageError(
                f"--timeout {arguments.timeout!r} is not a time", hint="90, 90s, 5m or 1h30m"
            )
    if arguments.ask:
        from siding.running.agent_reports import seconds_of  # few say it

        seconds_of(arguments.ask)
    return RunRequest(
        argv=tuple(command),
        task=arguments.task,
        new=arguments.new,
        timeout_s=timeout_s,
        env=dict(_variable(text) for text in arguments.env),
        cwd=arguments.cwd,
        record=not arguments.no_record,
        wait=arguments.wait,
        allow=tuple(arguments.allow),
        sandbox=sandbox_request(arguments),
        name=arguments.name,
        leave=arguments.leave,
        judge=arguments.judge,
        ask=arguments.ask,
        attended=sys.stdin.isatty() and sys.stderr.isatty(),
        reports=arguments.reports,
        survives=arguments.survive,
        over_limit=arguments.over_limit,
        meter=arguments.meter,
        turns=AskedTurns(
            _turn_time("every", arguments.checkpoint_every),
            _turn_time("quiet", arguments.checkpoint_quiet),
        ),
    )


def _turn_time(name: str, text: str | None) -> float | None:
    if text is None:
        return None
    found = 0.0 if text == "never" else seconds_in(text)
    if found is None:
        raise UsageError(
            f"--checkpoint-{name} {text!r} is not a time", hint="20s, 10m or 1h30m; or never"
        )
    return found


def _variable(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise UsageError(f"--env {text!r} sets nothing", hint="--env NAME=VALUE")
    return name, value
