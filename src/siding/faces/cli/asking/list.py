"""List the decisions that wait for a person, oldest first; with --all the closed ones too."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import inert, shorten
from siding.faces.cli.screen.words import ago

if TYPE_CHECKING:
    from siding.asking.views import DecisionView


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("-a", "--all", action="store_true", help="answered and cancelled ones too")
    parser.add_argument("-n", "--limit", type=int, default=0, metavar="N", help="only the newest N")
    parser.add_argument("--json", action="store_true", help="print them as JSON")


def run(arguments: Namespace, context: Context) -> int:
    from siding.asking.lookup import damaged_decisions, list_decisions
    from siding.asking.views import as_record
    from siding.record.place.project import require_project

    screen = context.screen
    project = require_project(context.app)
    found, problems = list_decisions(project, closed=arguments.all, limit=arguments.limit)
    damaged = damaged_decisions(project, closed=arguments.all)
    for sentence in problems:
        screen.warn(inert(sentence))
    if arguments.json:
        records = [*(each.as_record() for each in damaged), *(as_record(each) for each in found)]
        print_json(screen, records)
        return 0
    if not found and not damaged:
        screen.note("no decision waits" if not arguments.all else "no question was put yet")
        return 0
    how = ("HOW",) if arguments.all else ()
    header = ("SESSION", "STATE", *how, "ASKED", "TASK", "QUESTION")
    blank = ("-",) * (len(header) - 3)
    lost = [(each.session_id, "damaged", *blank, each.file) for each in damaged]
    screen.table(header, [*lost, *(_row(each, closed=arguments.all) for each in found)])
    return 0


def _row(decision: DecisionView, *, closed: bool) -> tuple[str, ...]:
    state = f"{decision.state}, gate" if decision.gate else decision.state
    how = (decision.how_closed or "-",) if closed else ()
    return (
        decision.session_id,
        state,
        *how,
        ago(decision.created_at),
        decision.task_id or "-",
        shorten(decision.title, 70),
    )
