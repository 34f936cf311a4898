"""Go back to before a prompt: files, HEAD, branch, index, and the agent's conversation.

Without N the prompts are listed, and on a terminal you choose. `last` is the newest that stands.
The state now is recorded first, so `siding undo` takes it back. An agent that runs learns with its
next prompt what was taken back; in a conversation it forgets it then, where it can. One that has
ended goes on, with the command that is printed, without what came after.

  siding rewind --list
  siding rewind last -n             what would be done
  siding rewind last
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.options import add_beside_arguments
from siding.faces.cli.screen.screen import Screen, inert
from siding.faces.cli.screen.table import print_table
from siding.faces.cli.screen.words import ago, changes_of, task_name, task_step

if TYPE_CHECKING:
    from siding.record.place.project import Project
    from siding.undo.rewind import Prompt, Prompts


_HEADER = ("STEP", "WHEN", "CHANGED", "PROMPT")
_OFFERED = 30  # prompts to choose from


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("step", nargs="?", metavar="N", help="the turn's step, or `last`")
    parser.add_argument("-t", "--task", metavar="TASK", help="the task (default: this terminal's)")
    parser.add_argument("--list", action="store_true", help="only list the prompts")
    parser.add_argument("-n", "--dry-run", action="store_true", help="only say what would be done")
    parser.add_argument("-f", "--force", action="store_true", help="move what is in the way aside")
    add_beside_arguments(parser)
    parser.add_argument("--wait", action="store_true", help="wait while the task is busy")
    parser.add_argument(
        "--json", action="store_true", help="print the step (or plan, or list) as JSON"
    )


def run(arguments: Namespace, context: Context) -> int:
    from siding.faces.cli.telling.beside import stop_first
    from siding.faces.cli.telling.restorations import (
        beside_of,
        tell_paused,
        tell_restored,
        with_consent,
    )
    from siding.record.place.project import require_project
    from siding.record.restoring.rollback import RollbackRequest, rollback
    from siding.undo.rewind import find_prompt, prompts

    project = require_project(context.app)
    screen = context.screen
    screen.use_colour(project.settings.color)
    found = prompts(project, arguments.task)
    if arguments.step is not None:
        prompt = find_prompt(found, arguments.step)
    elif _is_dialogue(arguments, screen) and found.all:
        prompt = _picked(screen, project, found)
    else:
        _list(screen, project, found, as_json=arguments.json)
        return 0
    request = RollbackRequest(
        step=prompt.before,
        task=found.task.id,
        wait=arguments.wait,
        beside=beside_of(arguments),
    )
    if arguments.dry_run:
        from siding.faces.cli.telling.survey import say_preview

        say_preview(screen, project, request, as_json=arguments.json)
        return 0
    if arguments.stop:
        stop_first(screen, project, found.task.id)
    done = with_consent(
        screen,
        lambda force: rollback(project, request._replace(force=force)),
        force=arguments.force,
    )
    for step in done.settled:
        screen.note(f"{task_step(done.task.name, step.id)} · {step.title} (recorded first)")
    tell_restored(screen, done.task.name, done.restored, f"back to before {prompt.title!r}")
    tell_paused(screen, done.task.name, done.restored.paused)
    _tell_agent(screen, prompt)
    if arguments.json:
        print_json(screen, done.restored.step.line)
    return 0


def _is_dialogue(arguments: Namespace, screen: Screen) -> bool:
    wants_list = arguments.list or arguments.json
    return not wants_list and sys.stdin.isatty() and screen.out.isatty()


def _picked(screen: Screen, project: Project, found: Prompts) -> Prompt:
    from siding.faces.cli.screen.questions import pick_one

    offered = found.all[-_OFFERED:]
    lines = ["  ".join(_cells(project, found, each)) for each in offered]
    return offered[pick_one(screen.out, lines, "go back to before which")]


def _list(screen: Screen, project: Project, found: Prompts, *, as_json: bool) -> None:
    if as_json:
        print_json(screen, [_record(each) for each in found.all])
        return
    if not found.all:
        screen.note(f"{task_name(found.task.name)} · no agent has reported a prompt")
        return
    dim = [not each.turn.stands for each in found.all]
    rows = [_cells(project, found, each) for each in found.all]
    print_table(screen, _HEADER, rows, dim=dim)


def _cells(project: Project, found: Prompts, prompt: Prompt) -> tuple[str, ...]:
    from siding.undo.rewind import changed_in

    step = prompt.turn.step
    shown = step.id if prompt.turn.stands else f"({step.id})"
    return shown, ago(step.started_at), changes_of(changed_in(project, found, prompt)), prompt.title


def _record(prompt: Prompt) -> dict[str, object]:
    step, detail = prompt.turn.step, prompt.turn.detail
    return {
        "step_id": step.id,
        "before": prompt.before,
        "stands": prompt.turn.stands,
        "started_at": step.started_at,
        "prompt": detail.prompt,
        "later_prompts": list(detail.later_prompts),
        "agent": prompt.agent,
        "session": detail.session,
        "run": detail.run,
        "lives": bool(prompt.lives),
        "again": list(prompt.again),
    }


def _tell_agent(screen: Screen, prompt: Prompt) -> None:
    """Say how the agent goes on from there."""
    from shlex import join

    if prompt.lives:
        who = inert(prompt.agent) or "the agent"
        screen.note(f"  {who} ({prompt.lives}) is told with its next prompt")
    elif prompt.again:
        screen.note(f"  to go on from there: siding run -- {inert(join(prompt.again))}")
