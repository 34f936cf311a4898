"""Run a command in the task's own workspace and record what it did.

Without an active task one is started, named after the command. The command's output goes to the
screen as it comes; the step keeps it, the files it changed and how it ended. The exit status is
the command's own (124 after a timeout, 125 after another limit, 130 after Ctrl-C, 126 and 127 as a
shell has them).

  siding run -- claude -p 'fix the parser'
  siding run --timeout 5m --task parser -- pytest -q
"""

import sys
from argparse import REMAINDER, ArgumentParser, Namespace
from collections.abc import Sequence
from shlex import quote
from typing import TYPE_CHECKING

from siding.app.place.project import ensure_project
from siding.app.running.run import (
    Ending,
    RunRequest,
    RunResult,
    Terminal,
    choose_stdin,
)
from siding.app.running.run import (
    run as run_command,
)
from siding.cli.formats import print_json
from siding.cli.globals import Context
from siding.cli.screen.screen import inert
from siding.cli.screen.words import changes, counted, duration, seconds_in, task_step
from siding.cli.telling.isolation import say_isolation
from siding.cli.telling.rulings import asker, say_ruling
from siding.cli.telling.sandbox_flags import add_sandbox_arguments, sandbox_request, say_sandbox
from siding.errors import UsageError

if TYPE_CHECKING:
    from siding.app.life.start import Started


SHELL_BUILTINS = frozenset({"cd", "export", "source", ".", "alias", "set", "unset", "eval", "exec"})


def add_arguments(parser: ArgumentParser) -> None:
    parser.usage = f"{parser.prog} [OPTIONS] -- COMMAND [ARGUMENT ...]"
    parser.add_argument("-t", "--task", metavar="TASK", help="the task (default: the active one)")
    parser.add_argument("--timeout", metavar="TIME", help="end everything after 90, 90s, 5m, 1h30m")
    parser.add_argument(
        "-e",
        "--env",
        action="append",
        default=[],
        metavar="K=V",
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
    tty = parser.add_mutually_exclusive_group()
    tty.add_argument("--tty", action="store_true", default=None, help="give it a terminal")
    tty.add_argument("--no-tty", dest="tty", action="store_false", help="give it pipes")
    parser.add_argument(
        "--stdin",
        choices=("auto", "pass", "none"),
        default="auto",
        help="pass our standard input on (auto: a terminal, a file, or a pipe with data in it)",
    )
    parser.add_argument(
        "--json", action="store_true", help="print the step as JSON; its output goes to stderr"
    )
    parser.add_argument("--wait", action="store_true", help="wait while the task is busy")
    parser.add_argument("command", nargs=REMAINDER, help="the command and its arguments")


def run(arguments: Namespace, context: Context) -> int:
    request = _request(arguments)
    screen = context.screen
    project, made = ensure_project(context.app)
    screen.use_colour(project.settings.color)
    if made:
        screen.note(f"made a project of {project.paths.root}")
    terminal, withheld = _terminal(arguments)
    if withheld:
        screen.note(
            "nothing came on standard input, so the command gets none; "
            "--stdin pass hands it on all the same"
        )
    sys.stdout.flush()
    result = run_command(
        project,
        request,
        terminal,
        on_started=lambda started: _say_started(context, started),
        ask=asker(screen),
    )
    _say(context, result)
    if arguments.json and result.step is not None:
        print_json(screen, result.step.line)
    return result.exit_code


def _say_started(context: Context, started: "Started") -> None:
    # Loading it takes 10 ms, which a run in an existing task saves.
    from siding.cli.telling.started import say_started

    say_started(context.screen, started)


def _request(arguments: Namespace) -> RunRequest:
    command = list(arguments.command)
    if command[:1] == ["--"]:
        command = command[1:]
    if not command or not command[0]:
        raise UsageError("there is no command to run", hint="siding run -- COMMAND [ARGUMENT ...]")
    timeout_s = None
    if arguments.timeout is not None:
        timeout_s = seconds_in(arguments.timeout)
        if timeout_s is None:
            raise UsageError(
                f"--timeout {arguments.timeout!r} is not a time", hint="90, 90s, 5m or 1h30m"
            )
    return RunRequest(
        argv=tuple(command),
        task=arguments.task,
        timeout_s=timeout_s,
        env=dict(_variable(text) for text in arguments.env),
        cwd=arguments.cwd,
        record=not arguments.no_record,
        wait=arguments.wait,
        allow=tuple(arguments.allow),
        sandbox=sandbox_request(arguments),
    )


def _variable(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise UsageError(f"--env {text!r} sets nothing", hint="--env NAME=VALUE")
    return name, value


def _terminal(arguments: Namespace) -> tuple[Terminal, bool]:
    """Return which streams the command gets, and whether an empty pipe was not passed on."""
    pty = arguments.tty
    if pty is None:
        pty = sys.stdin.isatty() and sys.stdout.isatty() and not arguments.json
    explicit = {"auto": None, "pass": True, "none": False}[arguments.stdin]
    plan, withheld = choose_stdin(explicit)
    out = 2 if arguments.json else 1
    return Terminal(stdin=plan, pty=pty, out=out, err=2), withheld


def _say(context: Context, result: RunResult) -> None:
    screen = context.screen
    for step in result.settled:
        change = changes(step.files, step.additions, step.deletions, step.modes)
        what = (
            f"it was cut off; its output and {change} are kept"
            if step.status == "interrupted"
            else f"{step.message}: {change}"
        )
        screen.note(f"{task_step(result.task.name, step.id)} recorded first: {what}", "yellow")
    for hook in result.hooks:
        if hook.exit_code != 0:
            screen.warn(f"{hook.moment} hook {hook.command!r} ended with {hook.exit_code}")
            screen.quote(hook.output)
    if result.untrusted_hooks:
        screen.note(
            f"{counted(result.untrusted_hooks, 'hook')} of the repository did not run; "
            "`siding trust` shows and allows them"
        )
    say_ruling(screen, result.ruling)
    say_sandbox(screen, result.sandbox, () if result.outcome is None else result.outcome.notes)
    if result.outcome is not None:
        _say_outcome(context, result)
    recorded = result.step
    say_isolation(screen, result.isolation if recorded is None else recorded.isolation)
    if recorded is not None:
        _say_step(context, result)


def _say_outcome(context: Context, result: RunResult) -> None:
    outcome = result.outcome
    assert outcome is not None
    screen = context.screen
    if outcome.ending is Ending.NOT_STARTED:
        screen.warn(outcome.reason or "the command could not be started")
        hint = _hint_for(result.step.cmd if result.step is not None else ())
        if hint:
            screen.note(f"  hint: {hint}")
    elif outcome.reason:
        screen.warn(outcome.reason)
    if outcome.ended_by_us:
        screen.note(f"ended {counted(len(outcome.ended_by_us), 'process', 'processes')}")
    for process in outcome.survivors:
        screen.warn(f"process {process.pid} ({process.name}) could not be ended")
    for process in outcome.left_running:
        screen.note(f"left running: process {process.pid} ({process.name})", "yellow")


def _hint_for(argv: Sequence[str]) -> str | None:
    """Return a hint about a command that could not be started, if it looks like a line of shell."""
    if not argv:
        return None
    if argv[0] in SHELL_BUILTINS:
        return f"{argv[0]!r} is built into shells: siding run -- sh -c '...'; --cwd DIR runs in DIR"
    if " " in argv[0] and len(argv) == 1:
        return f"a line for the shell is run by one: siding run -- sh -c {quote(inert(argv[0]))}"
    return None


def _say_step(context: Context, result: RunResult) -> None:
    step = result.step
    assert step is not None
    how = {
        "timeout": "timed out",
        "interrupted": "interrupted",
        "blocked": "stopped by a hook" if result.ruling.runs else "blocked by policy",
    }.get(step.status, f"exit {step.exit_code}")
    colour = "green" if step.status == "completed" else "red"
    change = changes(step.files, step.additions, step.deletions, step.modes)
    screen = context.screen
    screen.note(
        f"{task_step(result.task.name, step.id)} · {how} · {change} · {duration(step.duration_ms)}",
        colour,
    )
    if not step.complete:
        screen.note("not everything was captured; `siding show` says what was left out", "yellow")
    screen.detail(f"task {result.task.id}, snapshot {step.snapshot}")
