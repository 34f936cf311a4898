"""Go back to the state after a step, or to the base, byte for byte.

Files, HEAD, the task's branch, the index, a merge or rebase under way, and the phases go together;
--files, or PATHs relative to where you stand, takes files alone. The state now is recorded first,
so `siding undo` takes a rollback back. Ignored files stay; --hard moves them into the trash.
--dry-run prints exactly what would be done.

  siding rollback --step 3 -n       what would be done
  siding rollback --step 3
  siding rollback --base README.md  this file alone, as the task began with it
"""

from argparse import ArgumentParser, Namespace

from siding.faces.cli.globals import Context
from siding.faces.cli.options import add_beside_arguments
from siding.faces.cli.screen.words import task_name, task_step
from siding.ground.errors import UsageError


def add_arguments(parser: ArgumentParser) -> None:
    target = parser.add_mutually_exclusive_group()
    target.add_argument("--step", metavar="N", help="the state after this step; `last` works")
    target.add_argument("--base", action="store_true", help="the state before the first step")
    parser.add_argument("paths", nargs="*", metavar="PATH", help="only these paths")
    parser.add_argument("-t", "--task", metavar="TASK", help="the task (default: this terminal's)")
    parser.add_argument(
        "--files", action="store_true", help="files alone; HEAD, branch and index stay"
    )
    parser.add_argument("--hard", action="store_true", help="move ignored files into the trash")
    parser.add_argument("-n", "--dry-run", action="store_true", help="only say what would be done")
    parser.add_argument(
        "-f", "--force", action="store_true", help="use an incomplete snapshot; move obstacles away"
    )
    add_beside_arguments(parser)
    parser.add_argument("--wait", action="store_true", help="wait while the task is busy")
    parser.add_argument("--json", action="store_true", help="print the step (or plan) as JSON")


def run(arguments: Namespace, context: Context) -> int:
    from siding.faces.cli.telling.restorations import (
        beside_of,
        tell_paused,
        tell_restored,
        with_consent,
    )
    from siding.record.place.project import require_project
    from siding.record.restoring.rollback import RollbackRequest, check_target, rollback

    _require_target(arguments)
    project = require_project(context.app)
    screen = context.screen
    request = RollbackRequest(
        step=None if arguments.base else arguments.step,
        task=arguments.task,
        paths=tuple(arguments.paths),
        hard=arguments.hard,
        force=arguments.force,
        wait=arguments.wait,
        files_only=arguments.files,
        beside=beside_of(arguments),
    )
    if arguments.dry_run:
        from siding.faces.cli.telling.survey import say_preview

        say_preview(screen, project, request, as_json=arguments.json)
        return 0
    if arguments.stop:
        from siding.faces.cli.telling.beside import stop_first

        stop_first(screen, project, check_target(project, request).id)
    done = with_consent(
        screen, lambda force: rollback(project, request._replace(force=force)), force=request.force
    )
    for step in done.settled:
        screen.note(f"{task_step(done.task.name, step.id)} · {step.title} (recorded first)")
    where = done.survey.destination.name
    if done.survey.nothing_to_do:
        screen.note(f"{task_name(done.task.name)} · the workspace was as in {where} already")
    tell_restored(screen, done.task.name, done.restored, f"back to {where}")
    tell_paused(screen, done.task.name, done.restored.paused)
    if done.branch is not None:
        screen.note(f"  {done.branch}")
    if arguments.json:
        from siding.faces.cli.formats import print_json

        print_json(screen, done.restored.step.line)
    return 0


def _require_target(arguments: Namespace) -> None:
    """Raise UsageError when nothing says where to go back to."""
    if arguments.base or arguments.step is not None:
        return
    number = next((path for path in arguments.paths if path.lstrip("#").isdigit()), "N")
    raise UsageError(
        "rollback needs to know where to go back to",
        hint=f"--step {number} goes to the state after that step, --base to the beginning",
    )
