"""The verbs that show a task and change what is said of it."""

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping

from siding.faces.cli.formats import add_format, print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import inert
from siding.faces.cli.screen.words import local_time, port_range
from siding.faces.cli.verb import Verb
from siding.ground.errors import UnreadableFile, UsageError


def _show_options(parser: ArgumentParser) -> None:
    parser.add_argument("task", nargs="?", help="id or name (default: this terminal's)")
    add_format(parser, "text", "json")


def _show(arguments: Namespace, context: Context) -> int:
    from siding.feed.tasks import live_workflows, ports, show
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
    lines += [("workflow", each) for each in live_workflows(project, task)]
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
    parser.add_argument("task", nargs="?", help="id or name (default: this terminal's)")
    parser.add_argument("--owner", help="who does it; refused while the task is blocked")
    parser.add_argument("-m", "--description", help="what is to be done")
    parser.add_argument("--tags", metavar="A,B", help="replace the tags")
    parser.add_argument(
        "--blocked-by", metavar="TASK,TASK", help="replace the tasks that have to be done first"
    )
    parser.add_argument("--force", action="store_true", help="an owner even if it is blocked")


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
            tags=_names(arguments.tags),
            blocked_by=_names(arguments.blocked_by),
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


def _names(text: str | None) -> tuple[str, ...] | None:
    if text is None:
        return None
    return tuple(part.strip() for part in text.split(",") if part.strip())
