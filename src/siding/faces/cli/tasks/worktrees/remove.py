"""Move a workspace into the trash, whole: ignored files, nested repositories, staged changes.

With --complete the task is closed in the same act. Work that is nowhere else needs --force.
"""

from argparse import ArgumentParser, Namespace

from siding.faces.cli.globals import Context
from siding.faces.cli.options import add_stop_argument


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("task", nargs="?", help="id or name (default: this terminal's)")
    parser.add_argument("--complete", action="store_true", help="close the task as well")
    parser.add_argument("--force", action="store_true", help="even if it holds unapplied work")
    parser.add_argument(
        "--keep-branch", action="store_true", help="leave the task's branch, whatever is on it"
    )
    add_stop_argument(parser)


def run(arguments: Namespace, context: Context) -> int:
    from siding.faces.cli.telling.beside import stop_first
    from siding.record.place.project import require_project
    from siding.record.workspaces.attempts import select_for
    from siding.record.workspaces.branches import fate_of
    from siding.tasks.close import remove_workspace

    project = require_project(context.app)
    task = select_for(project, "worktree.remove", arguments.task)
    if arguments.stop:
        stop_first(context.screen, project, task.id)
    gone, task = remove_workspace(
        project,
        task,
        force=arguments.force,
        complete=arguments.complete,
        keep_branch=arguments.keep_branch,
    )
    context.screen.note(f"removed the workspace of task {task.id} · {task.name}")
    if gone.trash is not None:
        context.screen.note(f"  it is in {project.layout.root / gone.trash}")
    fate = fate_of(gone)
    if fate is not None:
        context.screen.note(f"  {fate.sentence}")
    if arguments.complete:
        context.screen.note("  and closed the task")
    return 0
