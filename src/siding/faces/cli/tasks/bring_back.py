"""Bring the change of a fork onto the task that it was made from, as a step of that task.

It comes uncommitted, by a three-way merge. If the two disagree, nothing is changed and the paths
are named. `siding undo` takes it back. Runs of the task are paused meanwhile.
"""

from argparse import ArgumentParser, Namespace

from siding.faces.cli.formats import add_format, print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import Screen
from siding.faces.cli.telling.restorations import tell_kept
from siding.forks.bring_back import BroughtBack, Conflict, bring_back
from siding.ground.ids import TaskId
from siding.record.place.named_task import resolve
from siding.record.place.project import require_project


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("fork", help="its id; `siding task list --children` shows them")
    add_format(parser, "text", "json")


def run(arguments: Namespace, context: Context) -> int:
    project = require_project(context.app)
    fork = resolve(project, arguments.fork)
    found = bring_back(project, fork)
    screen = context.screen
    if isinstance(found, Conflict):
        if arguments.format == "json":
            print_json(screen, {"step": None, "conflicts": [p._asdict() for p in found.paths]})
            return 1
        screen.warn(f"{fork.id} and its task disagree; nothing was changed")
        for path in found.paths:
            screen.note(f"  {path.name} ({path.kind})")
        return 1
    if arguments.format == "json":
        step = None if found.step is None else found.step.id
        record = {"step": step, "conflicts": [], "left": dict(found.left), "kept": [*found.kept]}
        print_json(screen, record)
    else:
        _say(screen, fork.id, found)
    tell_kept(screen, project.layout.root, found.step)
    return 0


def _say(screen: Screen, fork: TaskId, found: BroughtBack) -> None:
    if found.step is None:
        screen.note(f"the task has all of {fork} already")
        return
    screen.note(f"step {found.step.id} · {found.step.title} · {found.step.files} files")
    for name, why in found.left:
        screen.note(f"  left alone: {name} ({why})")
    for name in found.missed:
        screen.note(f"  written by somebody else meanwhile: {name}")
