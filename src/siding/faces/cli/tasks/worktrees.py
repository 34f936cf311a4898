"""The verbs `siding worktree …`: where tasks are done."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context, add_format
from siding.faces.cli.options import TASK_WORD, add_stop_argument, add_task_word
from siding.faces.cli.screen.screen import Screen, inert
from siding.faces.cli.screen.table import print_table
from siding.faces.cli.screen.words import ago, changes, local_time
from siding.faces.cli.verb import Verb
from siding.ground.errors import UsageError, counted

if TYPE_CHECKING:
    from siding.tasks.adopt_worktree import Adopted


def _add_options(parser: ArgumentParser) -> None:
    add_task_word(parser)
    parser.add_argument("--name", default="", help="what the worktree is called")
    parser.add_argument("--base", metavar="REF", help="start from this commit")
    parser.add_argument("--carry", action="store_true", help="take your uncommitted changes along")
    parser.add_argument("-f", "--force", action="store_true", help="even if another task blocks it")


def _add(arguments: Namespace, context: Context) -> int:
    from siding.faces.cli.telling.started import say_started
    from siding.record.place.project import require_project
    from siding.tasks.start import add_workspace

    project = require_project(context.app)
    started = add_workspace(
        project,
        arguments.task,
        base=arguments.base,
        carry=arguments.carry,
        force=arguments.force,
        name=arguments.name,
    )
    say_started(context.screen, started)
    return 0


ADD = Verb(
    """Give a planned task a workspace. `siding task reopen` brings a removed workspace back.""",
    _add_options,
    _add,
)


def _adopt_options(parser: ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH", help="the worktree's directory")
    whose = parser.add_mutually_exclusive_group()
    whose.add_argument("-t", "--task", help="a task without a workspace (default: a new one)")
    whose.add_argument("--name", help="name of the new task (default: that of the branch)")
    parser.add_argument(
        "--base", metavar="REF", help="count its change from where it departed from this"
    )
    parser.add_argument("--no-switch", action="store_true", help="do not make it the active task")
    parser.add_argument("-f", "--force", action="store_true", help="even if another task blocks it")
    add_format(parser, "text", "json")


def _adopt(arguments: Namespace, context: Context) -> int:
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


ADOPT = Verb(
    """\
Make a worktree that git or an agent made the workspace of a task. It stays where it is.

Everything done there since it departed from the base counts as the task's change, and its present
state is the first step. Closing the task leaves it in place.
""",
    _adopt_options,
    _adopt,
)


def _say_adopted(screen: Screen, adopted: Adopted) -> None:
    task, workspace = adopted.task, adopted.workspace
    screen.note(f"task {task.id} · {task.name}", "bold")
    screen.note(f"  workspace {workspace.path} (adopted; it stays there)")
    screen.note(f"  branch    {workspace.branch}")
    screen.note(f"  base      {adopted.base_ref} at {workspace.base_commit[:10]}")
    differ = f"{counted(adopted.changed, 'file')} changed since the base"
    screen.note(f"  step {adopted.step.id}  as adopted: {differ}")


def _bind_options(parser: ArgumentParser) -> None:
    add_task_word(parser, f"the task that gets it: {TASK_WORD}", is_needed=True)
    parser.add_argument(
        "--worktree", metavar="NAME", help="name, branch, path or task (default: the one here)"
    )
    parser.add_argument("--with-work", action="store_true", help="take the work so far along")
    parser.add_argument("--no-switch", action="store_true", help="do not make it the active task")
    parser.add_argument("-f", "--force", action="store_true", help="even if another task blocks it")


def _bind(arguments: Namespace, context: Context) -> int:
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


BIND = Verb(
    """\
Give a task the workspace of another task. The steps stay with the task that made them.

The task begins with the present state as its base, on a branch of its own. With --with-work the
work done so far becomes its own: it takes over the base as well.
""",
    _bind_options,
    _bind,
)


def _unbind_options(parser: ArgumentParser) -> None:
    add_task_word(parser)
    parser.add_argument("--name", help="name of the new task (default: that of the worktree)")


def _unbind(arguments: Namespace, context: Context) -> int:
    from siding.record.place.project import require_project
    from siding.tasks.bind import unbind_workspace

    screen = context.screen
    left = unbind_workspace(require_project(context.app), arguments.task, name=arguments.name)
    screen.note(f"task {left.task.id} · {left.task.name}", "bold")
    screen.note(f"  workspace {left.workspace.path}")
    screen.note(f"  branch    {left.workspace.branch}")
    giver = left.giver
    screen.note(f"  was the workspace of task {giver.id} · {giver.name}, whose steps stay with it")
    screen.note(f"  to go on  siding worktree bind {giver.id} --worktree NAME")
    if screen.quiet:
        screen.print(left.task.id)
    return 0


UNBIND = Verb(
    """\
Leave a task's workspace as it is, to a new task, so that the task can get another one.

  siding worktree unbind login && siding worktree bind login --worktree auth

The new task begins with the present state as its base. The steps stay with the old one.
""",
    _unbind_options,
    _unbind,
)


def _list_options(parser: ArgumentParser) -> None:
    parser.add_argument("-a", "--all", action="store_true", help="removed ones too")
    add_format(parser, "table", "json")


def _list(arguments: Namespace, context: Context) -> int:
    from siding.record.place.project import require_project
    from siding.tasks.whereabouts import place_of, workspaces

    found = [
        each
        for each in workspaces(require_project(context.app))
        if arguments.all or each.status.value != "removed"
    ]
    if arguments.format == "json":
        print_json(context.screen, [each._asdict() for each in found])
        return 0
    if not found:
        context.screen.note("no workspace; `siding task start NAME` makes one")
        return 0
    print_table(
        context.screen,
        ("TASK", "STATUS", "CREATED", "BRANCH", "PATH"),
        [
            (
                each.task_id,
                each.status.value + ("" if _there(each.path, each.status.value) else " (missing)"),
                ago(each.created_at),
                each.branch,
                place_of(each),
            )
            for each in found
        ],
    )
    return 0


LIST = Verb(
    """List the workspaces of this project: where the work is done.""",
    _list_options,
    _list,
)


def _there(path: str, status: str) -> bool:
    from pathlib import Path

    return status == "removed" or Path(path).is_dir()


def _status_options(parser: ArgumentParser) -> None:
    add_task_word(parser)
    add_format(parser, "text", "json")


def _status(arguments: Namespace, context: Context) -> int:
    from siding.record.place.project import require_project
    from siding.record.recording.difference import difference
    from siding.record.recording.status import status

    project = require_project(context.app)
    found = status(project, arguments.task)
    screen = context.screen
    if found.workspace is None:
        screen.note(f"task {found.task.name} has no workspace")
        return 0
    stat = None
    if found.present:
        with difference(project, found.task.id, at=None, start=None, end=None) as changed:
            stat = changed.stat_record()
    if arguments.format == "json":
        print_json(
            screen,
            {
                **found.workspace._asdict(),
                "present": found.present,
                "since_base": stat,
                "unrecorded_files": found.unrecorded,
            },
        )
        return 0
    missing = "" if found.present or found.workspace.status.value == "removed" else ", missing"
    screen.print(inert(f"{found.workspace.path} ({found.workspace.status.value}{missing})"))
    screen.print(inert(f"branch {found.workspace.branch}"))
    if stat is not None:
        total = changes(stat["files"], stat["additions"], stat["deletions"])
        screen.print(f"since the base: {total}")
        for name in stat.get("file_list", []):
            screen.print(f"  {inert(name)}")
        if found.unrecorded is None and (found.untold or found.problems):
            why = found.untold or found.problems[-1]
            screen.print(inert(f"not recorded yet: cannot be told: {why}"))
        if found.unrecorded:
            screen.print(f"not recorded yet: {counted(found.unrecorded, 'file')}")
    return 0


STATUS = Verb(
    """Show what changed in a workspace since its base, and since its last step.""",
    _status_options,
    _status,
)


def _keep_options(parser: ArgumentParser) -> None:
    add_task_word(parser)


def _keep(arguments: Namespace, context: Context) -> int:
    from siding.record.place.project import require_project
    from siding.record.workspaces.attempts import select_for
    from siding.tasks.close import keep_workspace

    project = require_project(context.app)
    kept = keep_workspace(project, select_for(project, "worktree.keep", arguments.task))
    context.screen.note(f"kept {kept.path}")
    return 0


KEEP = Verb(
    """Record that a workspace stays, as a choice somebody made.""",
    _keep_options,
    _keep,
)


def _remove_options(parser: ArgumentParser) -> None:
    add_task_word(parser)
    parser.add_argument("--complete", action="store_true", help="close the task as well")
    parser.add_argument(
        "-f", "--force", action="store_true", help="even if it holds unapplied work"
    )
    parser.add_argument(
        "--keep-branch", action="store_true", help="leave the task's branch, whatever is on it"
    )
    add_stop_argument(parser)


def _remove(arguments: Namespace, context: Context) -> int:
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


REMOVE = Verb(
    """\
Move a workspace into the trash, whole: ignored files, nested repositories, staged changes.

With --complete the task is closed in the same act. Work that is nowhere else needs --force.
""",
    _remove_options,
    _remove,
)


def _events_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "-n", "--limit", type=int, default=20, metavar="N", help="default: 20; 0 shows all"
    )
    add_format(parser, "table", "json")


def _events(arguments: Namespace, context: Context) -> int:
    from siding.record.place.project import require_project

    if arguments.limit < 0:
        raise UsageError(f"--limit {arguments.limit} is negative", hint="0 shows every event")
    found = require_project(context.app).events.newest(arguments.limit or None)
    if arguments.format == "json":
        print_json(context.screen, found)
        return 0
    if not found:
        context.screen.note("nothing has happened yet")
        return 0
    print_table(
        context.screen,
        ("WHEN", "EVENT", "TASK", "WORKTREE", ""),
        [
            (
                local_time(str(each.get("at", ""))),
                str(each.get("event", "")),
                _inside(each.get("task"), "id"),
                _inside(each.get("worktree"), "name"),
                str(each.get("error") or _inside(each.get("step"), "id")),
            )
            for each in found
        ],
    )
    return 0


EVENTS = Verb(
    """\
Show the newest lifecycle events, oldest first; other programs can follow `events.jsonl`.""",
    _events_options,
    _events,
)


def _inside(value: object, field: str) -> str:
    """Return a field of an object in an event, or the value itself: a move of the phases has the
    number of its step there."""
    if isinstance(value, dict):
        return str(value.get(field, ""))
    return "" if value is None else str(value)
