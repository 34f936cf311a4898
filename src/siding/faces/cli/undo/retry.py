"""Do a step again: back to the state before it, then its command, or another one.

Of an agent's turn it is the prompt, which the agent is given again: one that lives is sent it, one
that has ended is started again, and goes on with its conversation as it was before. Without N it is
the newest run or prompt. What stood on the step is listed first and left behind. All of it is one
act: `siding undo` leads to the state before. `siding diff --between A B` compares attempts.

  siding retry                      the newest run or prompt once more, from where it began
  siding retry 2                    the prompt of turn 2 once more
  siding retry 3 -- codex exec 'fix it without new dependencies'
"""

from __future__ import annotations

import sys
from argparse import REMAINDER, ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.edge import guarded
from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.options import add_beside_arguments, add_terminal_arguments
from siding.faces.cli.screen.screen import Screen, inert, shorten
from siding.faces.cli.screen.words import task_name
from siding.ground.errors import UsageError

if TYPE_CHECKING:
    from siding.record.restoring.act import Restored
    from siding.running.run import OnRunning, Terminal
    from siding.undo.retry import PlannedRetry, RetryRequest


TITLE_COLUMNS = 60


def add_arguments(parser: ArgumentParser) -> None:
    parser.usage = f"{parser.prog} [OPTIONS] [N] [-- COMMAND [ARGUMENT ...]]"
    parser.add_argument("-t", "--task", metavar="TASK", help="the task (default: this terminal's)")
    parser.add_argument("-n", "--dry-run", action="store_true", help="only say what would be done")
    parser.add_argument(
        "-f", "--force", action="store_true", help="use an incomplete snapshot; move obstacles away"
    )
    add_terminal_arguments(parser)
    add_beside_arguments(parser)
    parser.add_argument("--wait", action="store_true", help="wait while the task is busy")
    parser.add_argument(
        "-d", "--detach", action="store_true", help="go on in the background (`siding output`)"
    )
    parser.add_argument(
        "words", nargs=REMAINDER, metavar="N -- COMMAND", help="default: the newest run or prompt"
    )


def run(arguments: Namespace, context: Context) -> int:
    from siding.faces.cli.telling.runs import terminal_of
    from siding.record.place.project import require_project
    from siding.undo.retry import plan_retry

    project = require_project(context.app)
    screen = context.screen
    screen.use_colour(project.settings.color)
    terminal, _withheld = terminal_of(arguments)
    if arguments.detach:
        from siding.running.detached import terminal_for

        terminal = terminal_for((), wanted=arguments.tty is True, at_terminal=False)
    planned = plan_retry(project, _request(arguments, at_terminal=terminal.pty))
    _say_plan(screen, planned)
    if arguments.dry_run:
        return 0
    if arguments.detach and not planned.sends_to:
        return _detached(arguments, context, planned, terminal)
    return _retried(arguments, context, planned, terminal)


def _detached(
    arguments: Namespace, context: Context, planned: PlannedRetry, terminal: Terminal
) -> int:
    from siding.running.detached import detached

    begun = detached(
        context.app,
        lambda app, on_running: guarded(
            lambda: _retried(arguments, context._replace(app=app), planned, terminal, on_running)
        ),
    )
    if isinstance(begun, int):
        return begun
    context.screen.note(f"{task_name(begun.task_name)} · {begun.run_id} runs in the background")
    return 0


def _retried(
    arguments: Namespace,
    context: Context,
    planned: PlannedRetry,
    terminal: Terminal,
    on_running: OnRunning | None = None,
) -> int:
    from siding.faces.cli.telling.beside import stop_first
    from siding.faces.cli.telling.restorations import tell_paused, tell_restored, with_consent
    from siding.faces.cli.telling.runs import ask_seen, asker, say_run
    from siding.record.place.project import require_project
    from siding.undo.retry import retry, send_again

    project = require_project(context.app)
    screen = context.screen
    if arguments.stop:
        stop_first(screen, project, planned.task.id)
    sys.stdout.flush()

    def say_back(restored: Restored) -> None:
        what = f"back to before step {planned.step.id}"
        tell_restored(screen, planned.task.name, restored, what)
        tell_paused(screen, planned.task.name, restored.paused)

    if planned.sends_to:
        is_told = with_consent(
            screen,
            lambda force: send_again(project, planned, force=force, on_back=say_back),
            force=arguments.force,
        )
        screen.note(f"sent to {planned.sends_to}: {inert(planned.prompt)}", "green")
        if not is_told:
            screen.note(
                f"  it has not begun on it yet · siding attach {planned.sends_to}", "yellow"
            )
        return 0
    result = with_consent(
        screen,
        lambda force: retry(
            project,
            planned,
            terminal,
            force=force,
            ask=asker(screen),
            ask_seen=ask_seen(screen),
            on_back=say_back,
            on_running=on_running,
        ),
        force=arguments.force,
    )
    say_run(context, result)
    if arguments.json and result.step is not None:
        print_json(screen, result.step.line)
    return result.exit_code


def _request(arguments: Namespace, *, at_terminal: bool) -> RetryRequest:
    from siding.faces.cli.telling.restorations import beside_of
    from siding.undo.retry import RetryRequest

    words = list(arguments.words)
    step = words.pop(0) if words and words[0] != "--" else None
    if words and words[0] != "--":
        raise UsageError(
            f"retry takes one step, and {inert(words[0])!r} comes after it",
            hint="siding retry N -- COMMAND [ARGUMENT ...]",
        )
    return RetryRequest(
        step=step,
        argv=tuple(words[1:]),
        task=arguments.task,
        force=arguments.force,
        wait=arguments.wait,
        beside=beside_of(arguments),
        at_terminal=at_terminal,
        ends_runs=arguments.stop,
    )


def _say_plan(screen: Screen, planned: PlannedRetry) -> None:
    from shlex import join

    for step in planned.leaves:
        title = shorten(inert(step.title), TITLE_COLUMNS)
        screen.note(f"leaving behind {step.id} {step.kind_shown} {title}", "dim")
    again = f"to {planned.sends_to}" if planned.sends_to else join(planned.run.argv)
    again = f"{planned.prompt} · {again}" if planned.prompt else again
    command = shorten(inert(again), TITLE_COLUMNS)
    screen.note(f"from before step {planned.step.id}: {command}")
