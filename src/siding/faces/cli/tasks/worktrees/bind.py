"""Give a task the workspace of another task. The steps stay with the task that made them.

The task begins with the present state as its base, on a branch of its own. With --with-work the
work done so far becomes its own: it takes over the base as well.
"""

from argparse import ArgumentParser, Namespace

from siding.faces.cli.globals import Context


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("task", help="the task that gets it: id or name")
    parser.add_argument(
        "--worktree", metavar="NAME", help="name, branch, path or task (default: the one here)"
    )
    parser.add_argument("--with-work", action="store_true", help="take the work so far along")
    parser.add_argument("--no-switch", action="store_true", help="do not make it the active task")
    parser.add_argument("--force", action="store_true", help="even if the task waits for another")


def run(arguments: Namespace, context: Context) -> int:
    from siding.record.place.project import require_project
    from siding.tasks.bind import BindRequest, bind_workspace

    screen = context.screen
    bound = bind_workspace(
        require_project(context.app),
        BindRequest(
            task=arguments.task,
            worktree=arguments.worktree,
            with_work=arguments.with_work,
            switch=not arguments.no_switch,
            force=arguments.force,
        ),
    )
    screen.note(f"task {bound.task.id} · {bound.task.name}", "bold")
    screen.note(f"  workspace {bound.workspace.path}")
    screen.note(f"  branch    {bound.workspace.branch}")
    if bound.taken is not None:
        screen.note(f"  step {bound.taken.id}  the work so far")
    giver = bound.giver
    screen.note(f"  was the workspace of task {giver.id} · {giver.name}, whose steps stay with it")
    return 0
