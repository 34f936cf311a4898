"""Change what a task says about itself. Only what is given changes; "" empties a field."""

from argparse import ArgumentParser, Namespace

from siding.faces.cli.globals import Context
from siding.ground.errors import UsageError


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("task", nargs="?", help="id or name (default: this terminal's)")
    parser.add_argument("--owner", help="who does it; refused while the task is blocked")
    parser.add_argument("-m", "--description", help="what is to be done")
    parser.add_argument("--tags", metavar="A,B", help="replace the tags")
    parser.add_argument(
        "--blocked-by", metavar="TASK,TASK", help="replace the tasks that have to be done first"
    )
    parser.add_argument("--force", action="store_true", help="an owner even if it is blocked")


def run(arguments: Namespace, context: Context) -> int:
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
            tags=_list(arguments.tags),
            blocked_by=_list(arguments.blocked_by),
        ),
        force=arguments.force,
    )
    context.screen.note(f"updated task {task.id} · {task.name}")
    return 0


def _list(text: str | None) -> tuple[str, ...] | None:
    if text is None:
        return None
    return tuple(part.strip() for part in text.split(",") if part.strip())
