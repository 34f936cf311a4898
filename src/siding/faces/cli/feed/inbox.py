"""Show what waits for a person, in every project: questions, blocked and failed work, hooks.

Each line says what to type, in that repository. The setting `hooks.notify` names commands that are
run when something starts to wait.
"""

from __future__ import annotations

import time
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context, add_format
from siding.faces.cli.screen.screen import inert, shorten
from siding.faces.cli.screen.table import print_table
from siding.faces.cli.screen.words import ago
from siding.faces.cli.verb import Verb
from siding.ground.errors import UsageError

if TYPE_CHECKING:
    from siding.asking.views import InboxEntry
    from siding.feed.inbox import Inbox


LOOK_EVERY_S = 1.0


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--here", action="store_true", help="of this project only")
    parser.add_argument("--watch", action="store_true", help="go on, and say what starts to wait")
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def run(arguments: Namespace, context: Context) -> int:
    if arguments.watch and arguments.json:
        raise UsageError("--watch prints lines for a person; leave out --json")
    inbox = _look(arguments, context)
    for sentence in inbox.problems:
        context.screen.warn(inert(sentence))
    if arguments.json:
        print_json(context.screen, [each._asdict() for each in inbox.entries])
        return 0
    if inbox.entries:
        _print(context, inbox.entries)
    else:
        context.screen.note("nothing waits for you")
    if arguments.watch:
        _watch(arguments, context, inbox)
    return 0


def _look(arguments: Namespace, context: Context) -> Inbox:
    from siding.feed.inbox import waiting, waiting_in
    from siding.record.place.project import require_project

    if arguments.here:
        return waiting_in(require_project(context.app))
    return waiting(context.app)


def _print(context: Context, entries: tuple[InboxEntry, ...]) -> None:
    print_table(
        context.screen,
        ("WAITS", "SINCE", "PROJECT", "TASK", "WHAT", "TO DO"),
        [
            (
                each.kind,
                ago(each.since) if each.since else "-",
                each.project,
                shorten(each.task_name or each.task_id or "-", 24),
                shorten(each.title, 50),
                each.command,
            )
            for each in entries
        ],
    )


def _watch(arguments: Namespace, context: Context, inbox: Inbox) -> None:
    """Print each entry that is new, until Ctrl-C."""
    known = {_identity(each) for each in inbox.entries}
    while True:
        context.screen.out.flush()
        time.sleep(LOOK_EVERY_S)
        entries = _look(arguments, context).entries
        for each in entries:
            if _identity(each) not in known:
                task = f" · {inert(each.task_name)}" if each.task_name else ""
                context.screen.print(
                    f"{each.kind} · {inert(each.project)}{task} · {inert(each.title)}"
                    f"\n  {inert(each.command)}"
                )
        known = {_identity(each) for each in entries}


def _identity(entry: InboxEntry) -> tuple[str, ...]:
    return (entry.kind, entry.project_dir, entry.task_id, entry.session_id, entry.step_id)


def _add_today(parser: ArgumentParser) -> None:
    add_format(parser, "text", "json")


def _run_today(arguments: Namespace, context: Context) -> int:
    from siding.faces.cli.feed.today import print_today
    from siding.feed.today import Section, today

    found = today(context.app)
    if arguments.format == "json":
        sections = {
            each.value: [line._asdict() for line in found.section(each)] for each in Section
        }
        print_json(context.screen, {**sections, "problems": list(found.problems)})
    else:
        print_today(context.screen, context.app, found)
    return 0


TODAY = Verb(
    """Show the day over all projects on one screen: what waits, runs, broke, can be applied.

`siding` alone does the same. Each entry has the command to type next. On a terminal no more is
shown than fits; in a pipe, and with --format json, everything is. `siding --help` lists all
commands.
""",
    _add_today,
    _run_today,
)
