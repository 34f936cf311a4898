"""Change what a task says about itself. Only what is given changes; "" empties a field."""

from argparse import ArgumentParser, Namespace

from siding.app.place.project import require_project
from siding.app.waiting.tasks import update
from siding.cli.globals import Context
from siding.errors import UsageError


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("task", nargs="?", help="id or name (default: the active one)")
    parser.add_argument("--owner", help="who does it")
    parser.add_argument("-m", "--description", help="what is to be done")
    parser.add_argument("--tags", metavar="A,B", help="replace the tags")
    parser.add_argument(
        "--blocked-by", metavar="TASK,TASK", help="replace the tasks that have to be done first"
    )


def run(arguments: Namespace, context: Context) -> int:
    values = (arguments.owner, arguments.description, arguments.tags, arguments.blocked_by)
    if all(value is None for value in values):
        raise UsageError("nothing to change", hint="--owner, --description, --tags, --blocked-by")
    task = update(
        require_project(context.app),
        arguments.task,
        owner=arguments.owner,
        description=arguments.description,
        tags=_list(arguments.tags),
        blocked_by=_list(arguments.blocked_by),
    )
    context.screen.note(f"updated task {task.id} · {task.name}")
    return 0


def _list(text: str | None) -> list[str] | None:
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]
