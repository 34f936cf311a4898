"""Give the workspaces of forks back. Their records stay: steps, outputs, and the last state.

Without a fork, all that differ in nothing from what they were made from, or whose change was
brought back, are dropped; those with changes of their own stay and are named.
"""

from argparse import ArgumentParser, Namespace

from siding.faces.cli.globals import Context
from siding.faces.cli.screen.words import counted
from siding.forks.forks import drop, reopened
from siding.forks.sweep import sweep
from siding.record.place.named_task import resolve
from siding.record.place.project import require_project


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("fork", nargs="*", help="ids; `siding task list --children` shows them")
    parser.add_argument("--group", help="without a fork: only those of this group")


def run(arguments: Namespace, context: Context) -> int:
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
