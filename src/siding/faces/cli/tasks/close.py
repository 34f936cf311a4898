"""The verbs that finish a task and bring it back."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.formats import add_format, print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.options import add_stop_argument
from siding.faces.cli.verb import Verb

if TYPE_CHECKING:
    from siding.record.place.project import Project
    from siding.tasks.close import Closed


def _close_options(parser: ArgumentParser) -> None:
    parser.add_argument("task", nargs="?", help="id or name (default: this terminal's)")
    fate = parser.add_mutually_exclusive_group()
    fate.add_argument("--keep", action="store_true", help="leave the workspace where it is")
    fate.add_argument("--delete", action="store_true", help="move the task's records away too")
    parser.add_argument("--force", action="store_true", help="even if it holds unapplied work")
    parser.add_argument(
        "--keep-branch", action="store_true", help="leave the task's branch, whatever is on it"
    )
    add_stop_argument(parser)
    add_format(parser, "text", "json")


def _close(arguments: Namespace, context: Context) -> int:
    from siding.faces.cli.telling.beside import stop_first
    from siding.forks.sweep import sweep
    from siding.record.place.project import require_project
    from siding.record.workspaces.attempts import select_for
    from siding.tasks.close import Fate, close_task

    project = require_project(context.app)
    fate = Fate.KEEP if arguments.keep else Fate.DELETE if arguments.delete else Fate.USUAL
    if fate is Fate.USUAL and arguments.force:
        fate = Fate.REMOVE
    task = select_for(project, "task.close", arguments.task)
    if arguments.stop:
        stop_first(context.screen, project, task.id)
    closed = close_task(
        project, task, fate=fate, force=arguments.force, keep_branch=arguments.keep_branch
    )
    swept = sweep(project, parent=task.id) if project.tasks.fork_ids() else None
    for fork in () if swept is None else (*swept.differ, *swept.busy):
        context.screen.note(
            f"fork {fork} of it has changes of its own, or is worked with, and stays"
        )
    if arguments.format == "json":
        print_json(context.screen, _close_record(project, closed))
    else:
        _say_close(context, project, closed)
    return 0


CLOSE = Verb(
    """\
Finish a task. Its workspace is moved into the trash, whole, unless --keep leaves it in place.

A worktree that was adopted stays where it is without --keep; --force or --delete moves it, too.

Work that is nowhere else is not put out of sight without --force; even then it can be brought back.
The task's branch is deleted if every commit on it is elsewhere; `siding task reopen` makes it
again.
""",
    _close_options,
    _close,
)


def _say_close(context: Context, project: Project, closed: Closed) -> None:
    from siding.tasks.close import Fate

    fate = closed.fate
    word = "deleted" if fate is Fate.DELETE else "closed"
    context.screen.note(f"{word} task {closed.task.id} · {closed.task.name}")
    if closed.workspace is not None:
        if closed.fate is Fate.KEEP:
            context.screen.note(f"  workspace kept: {closed.workspace.path}")
            context.screen.note(f"  branch stays: {closed.workspace.branch}")
        elif closed.workspace.trash is not None:
            context.screen.note(
                f"  workspace moved to {project.layout.root / closed.workspace.trash}"
            )
    if closed.branch is not None:
        context.screen.note(f"  {closed.branch.sentence}")


def _close_record(project: Project, closed: Closed) -> dict[str, object]:
    from siding.tasks.close import Fate

    workspace, branch = closed.workspace, closed.branch
    moved = workspace is not None and closed.fate is not Fate.KEEP and workspace.trash is not None
    return {
        "id": closed.task.id,
        "name": closed.task.name,
        "fate": closed.fate.value,
        "workspace": None if workspace is None or moved else workspace.path,
        "trash": str(project.layout.root / str(workspace.trash)) if workspace and moved else None,
        "branch": None if branch is None else branch.record(),
    }


def _reopen_options(parser: ArgumentParser) -> None:
    parser.add_argument("task", help="id or name")
    parser.add_argument("--wait", action="store_true", help="wait while the task is busy")


def _reopen(arguments: Namespace, context: Context) -> int:
    from siding.faces.cli.telling.reopening import tell_reopened
    from siding.record.place.project import require_project
    from siding.tasks.reopen import reopen

    project = require_project(context.app)
    tell_reopened(context.screen, reopen(project, arguments.task, wait=arguments.wait))
    return 0


REOPEN = Verb(
    """\
Bring a closed or deleted task back, with its workspace as it was: ignored files, nested
repositories, staged changes and local commits included.
""",
    _reopen_options,
    _reopen,
)
