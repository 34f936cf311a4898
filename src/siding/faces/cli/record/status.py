"""Show where you are: the task, its workspace, its last step, and what runs.

--short prints one line for the prompt of a shell, such as `shop r2 ?1 !1 +3`: the task, then what
is not 0: runs that live (r), questions that wait for you (?), what broke (!: the last step failed,
or an act was cut off), and steps with changes that are not applied yet (+). Outside of a project,
or without a task, it prints nothing. It starts no other program.

--all shows every task and workflow of every project. With --json --follow it prints the whole feed
and then each change, a line each; --after goes on after a cursor (docs/reference/feed-events.md).

  siding status
  siding status --short             in the prompt of a shell
  siding status --all --json --follow
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.globals import Context, add_format
from siding.faces.cli.screen.screen import Screen, inert, shorten
from siding.faces.cli.screen.words import ago, changes_with_turns, duration, port_range, task_name
from siding.ground.errors import NoActiveTask, SidingError, UsageError, counted

if TYPE_CHECKING:
    from siding.broker.inside import Inside
    from siding.feed.short import ShortStatus
    from siding.ground.ids import TaskId
    from siding.record.place.project import Project
    from siding.record.recording.status import TaskStatus
    from siding.record.recording.steps import Step


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("-t", "--task", metavar="TASK", help="the task (default: this terminal's)")
    parser.add_argument("-s", "--short", action="store_true", help="one line, for a prompt")
    parser.add_argument("-a", "--all", action="store_true", help="every task of every project")
    parser.add_argument(
        "-f", "--follow", action="store_true", help="with --all --json: each change, too"
    )
    parser.add_argument(
        "--after",
        metavar="EPOCH:SEQ",
        help="only the changes after this cursor, if they are still known",
    )
    add_format(parser, "text", "json")


def run(arguments: Namespace, context: Context) -> int:
    from siding.record.place.project import require_project
    from siding.record.place.wiring import home_is_hidden

    as_json = arguments.format == "json"
    if arguments.all:
        return _print_all(context, arguments)
    if arguments.follow or arguments.after is not None:
        raise UsageError("--follow and --after are about the whole feed", hint="add --all --json")
    if home_is_hidden(context.app) and _told_inside(context, arguments, as_json=as_json):
        return 0
    if arguments.short:
        found = _short(context, arguments.task)
        if as_json:
            from siding.faces.cli.formats import print_line

            print_line(context.screen, None if found is None else found._asdict())
        elif found is not None:
            context.screen.print(_short_line(context.screen, found))
        return 0

    project = require_project(context.app)
    return _print_whole(project, context.screen, arguments.task, as_json=as_json)


def _print_all(context: Context, arguments: Namespace) -> int:
    from siding.faces.cli.telling.whole_feed import print_feed

    return print_feed(context, arguments)


def _told_inside(context: Context, arguments: Namespace, *, as_json: bool) -> bool:
    """Print what the broker of the run says, if this is part of one; tell whether it is."""
    from siding.broker.inside import broker_of

    inside = broker_of(context.app)
    if inside is None or arguments.task is not None or arguments.short:
        return False
    _print_inside(context.screen, inside, as_json=as_json)
    return True


def _short(context: Context, named: str | None) -> ShortStatus | None:
    """Return the figures; None where there is no task to speak of. A prompt shows no errors."""
    from siding.feed.short import short_status
    from siding.record.place.project import find_project
    from siding.record.place.selection import current_task_id

    try:
        project = find_project(context.app._replace(warn=_say_nothing))
        if project is None or (named is None and current_task_id(project) is None):
            return None
        return short_status(project, named)
    except (SidingError, OSError):
        return None


def _say_nothing(sentence: str) -> None:
    del sentence


def _short_line(screen: Screen, found: ShortStatus) -> str:
    """Return the line; in a prompt, whose shell reads it from a pipe, it has no colours."""
    from siding.feed.short import MOST_COUNTED

    parts = [task_name(found.task)]
    for mark, count, style in (
        ("r", found.runs, "cyan"),
        ("?", found.questions, "yellow"),
        ("!", found.broken, "red"),
        ("+", found.unapplied, "green"),
    ):
        if count:
            parts.append(screen.style(f"{mark}{min(count, MOST_COUNTED)}", style))
    return " ".join(parts)


def _print_whole(project: Project, screen: Screen, named: str | None, *, as_json: bool) -> int:
    """Print the status of a task and return the exit status: 1 if something is damaged."""
    from siding.record.place.selection import NOTHING_ACTIVE
    from siding.record.recording.status import status

    screen.use_colour(project.settings.color)
    try:
        found = status(project, named)
    except NoActiveTask as none:
        from siding.record.place.no_task import ways_on

        if as_json:
            from siding.faces.cli.formats import print_json

            print_json(screen, {"repository": _root(project), "active_task": None})
        else:
            screen.print(f"repository  {inert(_root(project))}")
            what = "none active" if none.message == NOTHING_ACTIVE else none.message
            screen.print(f"task        {inert(f'{what}; {ways_on(project)}')}")
        return 0
    if as_json:
        from siding.feed.task_rows import task_record
        from siding.record.unfinished.live_workflows import live_workflows

        record = {**_record(found, _root(project)), **task_record(project, found.task)}
        live = [each._asdict() for each in live_workflows(project, found.task.id)]
        from siding.faces.cli.formats import print_json

        print_json(screen, {**record, "workflows": live})
        return 1 if found.problems else 0
    for label, text in [*_lines(found, _root(project)), *_beside(project, found.task.id)]:
        screen.print(f"{screen.style(f'{label:<11}', 'dim')} {inert(text)}")
    return 1 if found.problems else 0


def _beside(project: Project, task: TaskId) -> list[tuple[str, str]]:
    """Return a line for each workflow that is at work, and each conversation."""
    from siding.record.unfinished.live_workflows import live_workflows

    lines = []
    for each in live_workflows(project, task):
        more = f"`siding workflow watch {each.run_id}` shows it"
        lines.append(("workflow", f"{each.name} runs ({each.run_id}); {more}"))
    if project.task_layout(task).chats_dir.is_dir():
        from siding.faces.cli.telling.chats import chat_lines

        lines += chat_lines(project, task)
    return lines


def _root(project: Project) -> str:
    return str(project.paths.root) if project.has_repository else "gone"


def _lines(found: TaskStatus, root: str) -> list[tuple[str, str]]:
    task, workspace = found.task, found.workspace
    lines = [("repository", root), ("task", f"{task.name} ({task.id}, {task.status.value})")]
    if workspace is None:
        lines.append(("workspace", f"none yet; `siding worktree add {task.id}` makes one"))
    else:
        state = workspace.status.value
        gone = state in ("active", "kept") and not found.present
        lines.append(("workspace", f"{workspace.path} ({'missing' if gone else state})"))
        lines.append(("branch", workspace.branch))
        lines.append(("base", _base(found)))
    if found.ports:
        lines.append(("ports", port_range(found.ports)))
    if found.last is None:
        lines.append(("steps", "none yet; `siding run -- COMMAND` makes one"))
    else:
        last = found.last
        change = changes_with_turns(last)
        lines.append(("steps", str(found.steps)))
        how = _how(last.status, last.exit_code)
        lines.append(
            (
                "last step",
                f"{last.id} {last.kind_shown} `{shorten(last.title, 60)}` {how}, {change}, "
                f"{duration(last.duration_ms)}, {ago(last.ended_at)}",
            )
        )
        lines += _conflicts(last)
    lines += _now(found)
    return lines + [("damaged", problem) for problem in found.problems]


def _conflicts(last: Step) -> list[tuple[str, str]]:
    """Return the line about conflicts that the newest step left in the workspace."""
    if last.merged is None or not last.merged.conflicts:
        return []
    names = [each.name for each in last.merged.conflicts]
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    what = f"{last.merged.branch} is merged, to be resolved: {', '.join(names[:3])}{more}"
    return [("conflict", f"{what}; `siding undo` takes it back")]


def _base(found: TaskStatus) -> str:
    task = found.task
    text = f"{task.base_ref} at {found.base[:10]}" if found.base else task.base_ref
    if found.base != task.base_commit:
        text += f" (synced; began at {task.base_commit[:10]})"
    if found.is_behind:
        text += "; it has moved on: `siding sync` brings that in"
    return text


def _how(status: str, exit_code: int | None) -> str:
    return status if exit_code in (None, 0, -1) else f"{status} ({exit_code})"


def _now(found: TaskStatus) -> list[tuple[str, str]]:
    lines: list[tuple[str, str]] = []
    for progress in found.in_progress:
        what = progress.intent.title or progress.intent.kind
        step = f"{progress.name} `{shorten(what, 60)}`"
        if progress.holder is not None:
            lines.append(("running", f"{step}, {ago(progress.intent.started_at)}"))
        else:
            lines.append(("cut off", f"{step}; the next command in this task records it"))
    for left in found.left:
        named = ", ".join(each.named for each in left.processes)
        lines.append(
            (
                "left",
                f"{left.run.id} has ended and left running: {named}; "
                f"`siding stop {left.run.id}` ends it",
            )
        )
    if found.holder is not None and not found.in_progress:
        lines.append(("busy", f"`{found.holder.what}` by process {found.holder.pid}"))
    if found.untold:
        lines.append(("unrecorded", f"cannot be told: {found.untold}"))
    if found.unrecorded and not found.in_progress:
        lines.append(
            ("unrecorded", f"{counted(found.unrecorded, 'file')} changed since the last step")
        )
    return lines


def _record(found: TaskStatus, root: str) -> dict[str, object]:
    """Return the status for programs: keys of an older tool of this kind stay, ours are added."""
    task, workspace, last = found.task, found.workspace, found.last
    return {
        "repository": root,
        "active_task": task.id,
        "task_name": task.name,
        "task_status": task.status.value,
        "workspace": workspace.path if workspace else None,
        "workspace_status": workspace.status.value if workspace else "absent",
        "workspace_present": found.present,
        "branch": task.branch,
        "base": task.base_ref,
        "base_commit": task.base_commit,
        "synced_to": found.base if found.base != task.base_commit else None,
        "base_has_moved": found.is_behind,
        "status": _state(found),
        "unrecorded_files": found.unrecorded,
        "steps": found.steps,
        "last_step_id": last.id if last else None,
        "last_step": dict(last.line) if last else None,
        "in_progress": found.in_progress[-1].intent.as_record() if found.in_progress else None,
        "running": [each.name for each in found.in_progress if each.holder is not None],
        "left_running": [
            {"run": left.run.id, "processes": [each._asdict() for each in left.processes]}
            for left in found.left
        ],
        "port": found.ports[0] if found.ports else None,
        "problems": list(found.problems),
        "holder": None if found.holder is None else found.holder._asdict(),
    }


def _state(found: TaskStatus) -> str:
    """Return whether there are changes that are not recorded; "unknown" if that cannot be told."""
    if found.present and found.unrecorded is None:
        return "unknown"
    return "dirty" if found.unrecorded else "clean"


def _print_inside(screen: Screen, inside: Inside, *, as_json: bool) -> None:
    """Print what the broker says of where this command is."""
    found = inside.ask("status")
    if as_json:
        from siding.faces.cli.formats import print_json

        print_json(screen, found)
        return
    task, phase = found["task"], found["phase"]
    lines = [
        ("task", f"{task['name']} ({task['id']}), {task['status']}"),
        ("run", f"{found['run']}, in a sandbox: what else is recorded can be seen outside"),
        ("workspace", found["workspace"]),
        ("base", found["base"]),
        ("phase", f"{phase['phase']}, step {phase['step']}" if phase else ""),
        ("last step", found["last_step"] or "none yet"),
        ("policy", "on" if found["policy"] else "off"),
        ("waits", ", ".join(found["questions"])),
    ]
    for label, text in lines:
        if text:
            screen.print(f"{screen.style(f'{label:<9}', 'dim')} {inert(text)}")
