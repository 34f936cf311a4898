"""Make a task and its workspace, on a branch of its own.

The base is pinned: whatever happens to the branch later, the task's diff is against this commit,
until `siding sync` brings in what is new.
What the workspace lacks (uncommitted work, ignored files, submodules) is said at once.

--base names the branch that the task is compared with and applied to, and where it starts. --from
lets it start somewhere else: all that this has and the base has not then belongs to the task. It is
a branch (also of a remote), a commit or tag, a pull request (#12, pr/12 or its page), or another
task as it is now (fix-login) or after a step (fix-login@3, fix-login@base), with its uncommitted
changes. task:NAME, branch:NAME and commit:NAME say which one is meant.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.formats import add_format, print_json
from siding.faces.cli.globals import Context

if TYPE_CHECKING:
    from siding.record.place.project import Project
    from siding.tasks.start import Started, StartRequest


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("name", help="what is to be done, in a few words")
    parser.add_argument(
        "--base",
        metavar="REF",
        help="what it is compared with and applied to, and starts from (default: HEAD)",
    )
    parser.add_argument(
        "--from",
        dest="origin",
        metavar="FROM",
        help="start from this branch, commit, pull request or TASK[@STEP] instead",
    )
    parser.add_argument("--no-switch", action="store_true", help="do not make it the active task")
    parser.add_argument(
        "--carry", action="store_true", help="take your uncommitted changes along, as a first step"
    )
    parser.add_argument(
        "--no-workspace", action="store_true", help="only plan it; `worktree add` makes one later"
    )
    parser.add_argument("-m", "--description", help="what is to be done, at length")
    add_format(parser, "text", "json")


def run(arguments: Namespace, context: Context) -> int:
    from siding.faces.cli.telling.started import say_started
    from siding.record.place.project import ensure_project
    from siding.tasks.start import StartRequest

    project, made = ensure_project(context.app)
    context.screen.use_colour(project.settings.color)
    if made:
        context.screen.note(f"made a project of {project.paths.root}")
    request = StartRequest(
        name=arguments.name,
        base=arguments.base,
        switch=not arguments.no_switch,
        carry=arguments.carry,
        workspace=not arguments.no_workspace,
        description=arguments.description,
    )
    started = _started(project, request, arguments.origin)
    if arguments.format == "json":
        workspace = started.workspace
        print_json(
            context.screen,
            {
                "id": started.task.id,
                "name": started.task.name,
                "branch": started.task.branch,
                "workspace": None if workspace is None else workspace.path,
                "start": dict(started.task.start),
                "notes": list(started.notes),
            },
        )
        return 0
    say_started(context.screen, started)
    if started.workspace is not None and context.screen.quiet:
        context.screen.print(started.task.id)
    return 0


def _started(project: Project, request: StartRequest, origin: str | None) -> Started:
    from siding.tasks.start import start

    if origin is None:
        return start(project, request)
    from siding.starting.start_from import start_from

    return start_from(project, request, origin)
