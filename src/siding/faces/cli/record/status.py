"""Show where you are: the task, its workspace, its last step, and what runs.

--short prints one line for the prompt of a shell, such as `shop r2 ?1 !1 +3`: the task, then what
is not 0: runs that live (r), questions that wait for you (?), what broke (!: the last step failed,
or an act was cut off), and steps with changes that are not applied yet (+). Outside of a project,
or without a task, it prints nothing. It starts no other program.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.globals import Context, add_format
from siding.faces.cli.screen.screen import Screen
from siding.faces.cli.screen.words import task_name
from siding.ground.errors import SidingError

if TYPE_CHECKING:
    from siding.feed.short import ShortStatus


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("-t", "--task", metavar="TASK", help="the task (default: this terminal's)")
    parser.add_argument("-s", "--short", action="store_true", help="one line, for a prompt")
    add_format(parser, "text", "json")


def run(arguments: Namespace, context: Context) -> int:
    from siding.record.place.project import require_project
    from siding.record.place.wiring import home_is_hidden

    as_json = arguments.format == "json"
    if home_is_hidden(context.app) and _told_inside(context, arguments, as_json=as_json):
        return 0
    if arguments.short:
        found = _short(context, arguments.task)
        if as_json:
            from siding.faces.cli.formats import print_line

            print_line(context.screen, None if found is None else found._asdict())
        elif found is not None:
            context.screen.print(_line(context.screen, found))
        return 0
    from siding.faces.cli.record.whole_status import print_status

    project = require_project(context.app)
    return print_status(project, context.screen, arguments.task, as_json=as_json)


def _told_inside(context: Context, arguments: Namespace, *, as_json: bool) -> bool:
    """Print what the broker of the run says, if this is part of one; tell whether it is."""
    from siding.broker.inside import broker_of
    from siding.faces.cli.record.whole_status import print_status_inside

    inside = broker_of(context.app)
    if inside is None or arguments.task is not None or arguments.short:
        return False
    print_status_inside(context.screen, inside, as_json=as_json)
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


def _line(screen: Screen, found: ShortStatus) -> str:
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
