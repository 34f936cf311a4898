"""The verbs about forks: start a task from another one's state; keep, bring back, drop forks."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context, add_format
from siding.faces.cli.screen.screen import Screen
from siding.faces.cli.verb import Verb
from siding.ground.errors import counted
from siding.ground.ids import TaskId

if TYPE_CHECKING:
    from siding.forks.bring_back import BroughtBack


def _fork_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="of the new task (default: the old one's, again)"
    )
    parser.add_argument(
        "--step", default="", metavar="N", help="the state after this step, or base"
    )
    parser.add_argument("-t", "--task", help="of this task (default: this terminal's)")
    parser.add_argument("--switch", action="store_true", help="make it the active task")


def _fork(arguments: Namespace, context: Context) -> int:
    from siding.faces.cli.telling.started import say_started
    from siding.record.place.project import require_project
    from siding.record.place.selection import select
    from siding.starting.start_from import start_from
    from siding.tasks.start import StartRequest

    project = require_project(context.app)
    context.screen.use_colour(project.settings.color)
    task = select(project, arguments.task)
    after = f"@{arguments.step}" if arguments.step else ""
    request = StartRequest(name=arguments.name or f"{task.name} (fork)", switch=arguments.switch)
    started = start_from(project, request, f"task:{task.id}{after}")
    say_started(context.screen, started)
    if context.screen.quiet:
        context.screen.print(started.task.id)
    return 0


FORK = Verb(
    """\
Start a task from the state that another one is in, or was in after a step.

The new task has the files to the byte, the commits, what is staged, and a branch of its own: try
something else without giving up what there is. It is `siding task start NAME --from TASK@STEP`.
Workflows make forks of another kind by the hundred, which are on no board: see `siding task list
--children`.
""",
    _fork_options,
    _fork,
)


def _keep_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "fork", metavar="FORK", help="its id; `siding task list --children` shows them"
    )
    parser.add_argument(
        "name", nargs="?", default="", metavar="NAME", help="of the task (default: the fork's)"
    )
    parser.add_argument("--switch", action="store_true", help="make it the active task")


def _keep(arguments: Namespace, context: Context) -> int:
    from siding.faces.cli.telling.started import say_started
    from siding.forks.forks import keep
    from siding.record.place.named_task import resolve
    from siding.record.place.project import require_project

    project = require_project(context.app)
    fork = resolve(project, arguments.fork)
    started = keep(project, fork, arguments.name, switch=arguments.switch)
    say_started(context.screen, started)
    if context.screen.quiet:
        context.screen.print(started.task.id)
    return 0


KEEP = Verb(
    """\
Make a fork of a workflow a task of the board, with a workspace and a branch of its own.

The task starts from the state that the fork is in; what the fork and the task that it was made from
have changed belongs to it.
""",
    _keep_options,
    _keep,
)


def _bring_back_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "fork", metavar="FORK", help="its id; `siding task list --children` shows them"
    )
    add_format(parser, "text", "json")


def _bring_back(arguments: Namespace, context: Context) -> int:
    from siding.faces.cli.telling.step_words import kept_words
    from siding.forks.bring_back import ForkConflict, bring_back
    from siding.record.place.named_task import resolve
    from siding.record.place.project import require_project

    project = require_project(context.app)
    fork = resolve(project, arguments.fork)
    found = bring_back(project, fork)
    screen = context.screen
    if isinstance(found, ForkConflict):
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
        _say_bring_back(screen, fork.id, found)
    for sentence in kept_words(project.layout.root, found.step):
        screen.warn(sentence)
    return 0


BRING_BACK = Verb(
    """\
Bring the change of a fork onto the task that it was made from, as a step of that task.

It comes uncommitted, by a three-way merge. If the two disagree, nothing is changed and the paths
are named. `siding undo` takes it back. Runs of the task are paused meanwhile.
""",
    _bring_back_options,
    _bring_back,
)


def _say_bring_back(screen: Screen, fork: TaskId, found: BroughtBack) -> None:
    if found.step is None:
        screen.note(f"the task has all of {fork} already")
        return
    screen.note(f"step {found.step.id} · {found.step.title} · {counted(found.step.files, 'file')}")
    for name, why in found.left:
        screen.note(f"  left alone: {name} ({why})")
    for name in found.missed:
        screen.note(f"  written by somebody else meanwhile: {name}")


def _drop_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "fork", nargs="*", metavar="FORK", help="ids; `siding task list --children` shows them"
    )
    parser.add_argument("--group", help="without a fork: only those of this group")


def _drop(arguments: Namespace, context: Context) -> int:
    from siding.forks.forks import drop, reopened
    from siding.forks.sweep import sweep
    from siding.record.place.named_task import resolve
    from siding.record.place.project import require_project

    project = require_project(context.app)
    for named in arguments.fork:
        dropped = drop(project, reopened(project, resolve(project, named)))
        tail = f"; `siding task keep {dropped.task.id}` still takes its last state"
        context.screen.note(f"dropped {dropped.task.id}{tail if dropped.differs else ''}")
        for place in dropped.moved_to:
            context.screen.note(f"  moved to {place}")
    if arguments.fork:
        return 0
    swept = sweep(project, group=arguments.group)
    context.screen.note(f"dropped {counted(len(swept.dropped), 'fork')}")
    for task_id in swept.differ:
        context.screen.note(f"  {task_id} has changes of its own: `siding diff -t {task_id}`")
    for task_id in swept.busy:
        context.screen.note(f"  {task_id} is worked with")
    if swept.half_made:
        context.screen.note(f"  {counted(swept.half_made, 'worktree')} left half-made, thrown away")
    return 0


DROP = Verb(
    """\
Give the workspaces of forks back. Their records stay: steps, outputs, and the last state.

Without a fork, all that differ in nothing from what they were made from, or whose change was
brought back, are dropped; those with changes of their own stay and are named.
""",
    _drop_options,
    _drop,
)
