"""Make a worktree that git or an agent made the workspace of a task. It stays where it is.

Everything done there since it departed from the base counts as the task's change, and its present
state is the first step. Closing the task leaves it in place.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.formats import add_format, print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import Screen
from siding.faces.cli.screen.words import counted

if TYPE_CHECKING:
    from siding.tasks.adopt_worktree import Adopted


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("path", help="the worktree's directory")
    whose = parser.add_mutually_exclusive_group()
    whose.add_argument("-t", "--task", help="a task without a workspace (default: a new one)")
    whose.add_argument("--name", help="name of the new task (default: that of the branch)")
    parser.add_argument(
        "--base", metavar="REF", help="count its change from where it departed from this"
    )
    parser.add_argument("--no-switch", action="store_true", help="do not make it the active task")
    parser.add_argument("--force", action="store_true", help="even if the task waits for another")
    add_format(parser, "text", "json")


def run(arguments: Namespace, context: Context) -> int:
    from siding.record.place.project import ensure_project
    from siding.tasks.adopt_worktree import AdoptRequest, adopt_worktree

    project, made = ensure_project(context.app)
    if made:
        context.screen.note(f"made a project of {project.paths.root}")
    adopted = adopt_worktree(
        project,
        AdoptRequest(
            path=context.app.cwd / arguments.path,
            task=arguments.task,
            name=arguments.name,
            base=arguments.base,
            switch=not arguments.no_switch,
            force=arguments.force,
        ),
    )
    if arguments.format == "json":
        task, workspace = adopted.task, adopted.workspace
        facts = {"id": task.id, "name": task.name, "branch": task.branch}
        base = {"base_ref": adopted.base_ref, "base_commit": workspace.base_commit}
        print_json(context.screen, {**facts, **base, "workspace": workspace.path})
        return 0
    _say_adopted(context.screen, adopted)
    if context.screen.quiet:
        context.screen.print(adopted.task.id)
    return 0


def _say_adopted(screen: Screen, adopted: Adopted) -> None:
    task, workspace = adopted.task, adopted.workspace
    screen.note(f"task {task.id} · {task.name}", "bold")
    screen.note(f"  workspace {workspace.path} (adopted; it stays there)")
    screen.note(f"  branch    {workspace.branch}")
    screen.note(f"  base      {adopted.base_ref} at {workspace.base_commit[:10]}")
    differ = f"{counted(adopted.changed, 'file')} changed since the base"
    screen.note(f"  step {adopted.step.id}  as adopted: {differ}")
