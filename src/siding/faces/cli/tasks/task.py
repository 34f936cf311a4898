"""The verbs about one task: start, show, update, close and reopen it."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from typing import TYPE_CHECKING

from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context, add_format
from siding.faces.cli.options import TASK_WORD, add_stop_argument, add_task_word
from siding.faces.cli.screen.screen import inert
from siding.faces.cli.screen.words import local_time, port_range
from siding.faces.cli.verb import Verb
from siding.ground.errors import UnreadableFile, UsageError
from siding.ground.ids import TaskId

if TYPE_CHECKING:
    from siding.record.place.project import Project
    from siding.tasks.close import Closed
    from siding.tasks.start import Started, StartRequest


def _start_options(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="what is to be done, in a few words")
    parser.add_argument(
        "--base",
        metavar="REF",
        help="what it is compared with and applied to, and starts from (default: HEAD)",
    )
    parser.add_argument(
        "--from",
        dest="origin",
        metavar="POINT",
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


def _start(arguments: Namespace, context: Context) -> int:
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
    started = _start_from(project, request, arguments.origin)
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


START = Verb(
    """\
Make a task and its workspace, on a branch of its own.

The base is pinned: whatever happens to the branch later, the task's diff is against this commit,
until `siding sync` brings in what is new.
What the workspace lacks (uncommitted work, ignored files, submodules) is said at once.

--base names the branch that the task is compared with and applied to, and where it starts. --from
lets it start somewhere else: all that this has and the base has not then belongs to the task. It is
a branch (also of a remote), a commit or tag, a pull request (#12, pr/12 or its page), or another
task as it is now (fix-login) or after a step (fix-login@3, fix-login@base), with its uncommitted
changes. task:NAME, branch:NAME and commit:NAME say which one is meant.

  siding task start 'fix the parser'
  siding task start 'fix the parser' --carry      with your uncommitted changes
  siding task start 'look at it' --from '#12'     from a pull request
""",
    _start_options,
    _start,
)


def _start_from(project: Project, request: StartRequest, origin: str | None) -> Started:
    from siding.tasks.start import start

    if origin is None:
        return start(project, request)
    from siding.starting.start_from import start_from

    return start_from(project, request, origin)


def _show_options(parser: ArgumentParser) -> None:
    add_task_word(parser)
    add_format(parser, "text", "json")


def _show(arguments: Namespace, context: Context) -> int:
    from siding.feed.board import ports, show
    from siding.record.place.project import require_project
    from siding.tasks.changes import blockers_of
    from siding.usage.brief import brief, usage_of_task

    project = require_project(context.app)
    task, workspace = show(project, arguments.task)
    try:
        own = ports(project, task)
    except UnreadableFile as error:
        own = range(0)
        context.screen.warn(f"{error.message}; {error.hint}")
    place = None if workspace is None else workspace._asdict()
    if arguments.format == "json":
        record = task._asdict()
        rest = record.pop("rest")
        print_json(
            context.screen, {**record, **rest, "workspace": place, "port": own[0] if own else None}
        )
        return 0
    lines = [
        ("task", f"{task.id}  {task.name}"),
        ("status", task.status.value),
        ("description", task.description),
        ("owner", task.owner),
        ("tags", ", ".join(task.tags)),
        ("blocked by", ", ".join(each.told for each in blockers_of(project, task))),
        ("created", local_time(task.created_at)),
        ("closed", local_time(task.closed_at) if task.closed_at else ""),
        ("base", f"{task.base_ref} at {task.base_commit[:10]}" if task.base_commit else ""),
        ("from", _from(task.start)),
        ("branch", task.branch),
    ]
    if workspace is not None:
        lines += [("workspace", f"{workspace.path} ({workspace.status.value})")]
    lines += [("ports", port_range(own)), ("used", brief(usage_of_task(project, task.id)))]
    lines += [("workflow", each) for each in _live_workflows(project, task.id)]
    lines += [(f"start: {key}", value) for key, value in _card_lines(task.start)]
    for label, text in lines:
        if text:
            context.screen.print(f"{context.screen.style(f'{label:<18}', 'dim')} {inert(text)}")
    return 0


SHOW = Verb(
    """Show one task: what it is, where it is done, and its start card.""",
    _show_options,
    _show,
)


def _live_workflows(project: Project, task_id: TaskId) -> list[str]:
    """Return a phrase about each run of a workflow that is at work in a task."""
    if not project.layout.workflow_runs_dir.is_dir():
        return []
    # Imported here because most projects have no workflows.
    from siding.feed.workflow_runs import live_runs

    return [
        f"{run.name}, {run.progress}: siding workflow watch {run.run_id}"
        for run in live_runs(project, task_id)
    ]


def _from(card: Mapping[str, object]) -> str:
    """Return where the workspace started, if not at the base."""
    from siding.record.workspaces.beginning import FROM, StartPoint

    found = card.get(FROM)
    if not isinstance(found, dict):
        return ""
    point = StartPoint.from_record(found)
    return f"{point.title} at {point.commit[:10]}"


def _card_lines(card: Mapping[str, object]) -> list[tuple[str, str]]:
    lines: list[tuple[str, str]] = []
    for key in ("left_out", "missing", "partly", "included", "submodules"):
        names = card.get(key)
        if isinstance(names, list) and names:
            lines.append((key.replace("_", " "), ", ".join(str(name) for name in names)))
    lines += [(key, "yes") for key in ("carried", "sparse", "shallow") if card.get(key)]
    if card.get("lfs") not in (None, "none"):
        lines.append(("LFS", str(card["lfs"])))
    off = card.get("off")
    for each in off if isinstance(off, list) else ():
        if isinstance(each, dict):
            patterns = ", ".join(map(str, each.get("patterns", ())))
            lines.append((f"{each.get('kind')} off", f"{each.get('name')}: {patterns}"))
    return lines


def _update_options(parser: ArgumentParser) -> None:
    add_task_word(parser)
    parser.add_argument("--owner", help="who does it; refused while the task is blocked")
    parser.add_argument("-m", "--description", help="what is to be done")
    parser.add_argument("--tags", metavar="A,B", help="replace the tags")
    parser.add_argument(
        "--blocked-by", metavar="TASK,TASK", help="replace the tasks that have to be done first"
    )
    parser.add_argument("-f", "--force", action="store_true", help="an owner even if it is blocked")


def _update(arguments: Namespace, context: Context) -> int:
    from siding.record.place.project import require_project
    from siding.tasks.changes import TaskUpdate, update

    values = (arguments.owner, arguments.description, arguments.tags, arguments.blocked_by)
    if all(value is None for value in values):
        raise UsageError("nothing to change", hint="--owner, --description, --tags, --blocked-by")
    task = update(
        require_project(context.app),
        arguments.task,
        TaskUpdate(
            owner=arguments.owner,
            description=arguments.description,
            tags=_update_names(arguments.tags),
            blocked_by=_update_names(arguments.blocked_by),
        ),
        force=arguments.force,
    )
    context.screen.note(f"updated task {task.id} · {task.name}")
    return 0


UPDATE = Verb(
    """Change what a task says about itself. Only what is given changes; "" empties a field.""",
    _update_options,
    _update,
)


def _update_names(text: str | None) -> tuple[str, ...] | None:
    if text is None:
        return None
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _close_options(parser: ArgumentParser) -> None:
    add_task_word(parser)
    fate = parser.add_mutually_exclusive_group()
    fate.add_argument("--keep", action="store_true", help="leave the workspace where it is")
    fate.add_argument("--delete", action="store_true", help="move the task's records away too")
    parser.add_argument(
        "-f", "--force", action="store_true", help="even if it holds unapplied work"
    )
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

  siding task close                 this terminal's task
  siding task close parser --keep   and leave its workspace where it is
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
    add_task_word(parser, TASK_WORD, is_needed=True)
    parser.add_argument("--wait", action="store_true", help="wait while the task is busy")


def _reopen(arguments: Namespace, context: Context) -> int:
    from siding.faces.cli.telling.started import tell_reopened
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
