"""The verbs about questions that were put: list, show, take back, clear away."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from datetime import timedelta
from typing import TYPE_CHECKING

from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import inert, shorten
from siding.faces.cli.screen.table import print_table
from siding.faces.cli.screen.words import ago, counted, seconds_in
from siding.faces.cli.verb import Verb
from siding.ground.errors import UsageError

if TYPE_CHECKING:
    from siding.asking.views import DecisionView


def _list_options(parser: ArgumentParser) -> None:
    parser.add_argument("-a", "--all", action="store_true", help="answered and cancelled ones too")
    parser.add_argument("-n", "--limit", type=int, default=0, metavar="N", help="only the newest N")
    parser.add_argument("--json", action="store_true", help="print them as JSON")


def _list(arguments: Namespace, context: Context) -> int:
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
    print_table(screen, header, [*lost, *(_list_row(each, closed=arguments.all) for each in found)])
    return 0


LIST = Verb(
    """List the decisions that wait for a person, oldest first; with --all the closed ones too.""",
    _list_options,
    _list,
)


def _list_row(decision: DecisionView, *, closed: bool) -> tuple[str, ...]:
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


def _show_options(parser: ArgumentParser) -> None:
    parser.add_argument("session", nargs="?", help="which one (default: the newest)")
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def _show(arguments: Namespace, context: Context) -> int:
    from siding.asking.lookup import find
    from siding.asking.question import page_of
    from siding.asking.views import as_record
    from siding.faces.cli.asking.lines import print_head, print_item
    from siding.record.place.project import require_project

    project = require_project(context.app)
    decision = find(project, arguments.session)
    if arguments.json:
        print_json(context.screen, as_record(decision))
        return 0
    print_head(context.screen, decision)
    for item in decision.items:
        print_item(context.screen, project, decision, item)
    if decision.state == "open":
        page = page_of(project, decision)
        if page is not None:
            context.screen.note(f"to answer: {page}")
        context.screen.note(f"to answer: siding decide answer {decision.session_id}")
    return 0


SHOW = Verb(
    """\
Show a decision: its questions, what speaks for and against each option, and the answers.""",
    _show_options,
    _show,
)


def _cancel_options(parser: ArgumentParser) -> None:
    parser.add_argument("session", help="which one")
    parser.add_argument("--reason", default="", metavar="TEXT", help="why; it is recorded")


def _cancel(arguments: Namespace, context: Context) -> int:
    from siding.asking.answer import cancel
    from siding.asking.decisions.record import Via
    from siding.asking.lookup import find
    from siding.record.place.project import require_project

    project = require_project(context.app)
    decision = find(project, arguments.session)
    cancel(project, decision.session_id, reason=arguments.reason, via=Via.TERMINAL)
    context.screen.note(f"cancelled {decision.session_id}")
    return 0


CANCEL = Verb(
    """Take a question back; whoever waits for its answer is told.""",
    _cancel_options,
    _cancel,
)


def _clean_options(parser: ArgumentParser) -> None:
    parser.add_argument("--keep", type=int, metavar="N", help="keep the newest N closed ones")
    parser.add_argument(
        "--older-than", metavar="TIME", help="only those closed before, such as 30d"
    )


def _clean(arguments: Namespace, context: Context) -> int:
    from siding.asking.answer import clean
    from siding.record.place.project import require_project

    if arguments.keep is None and arguments.older_than is None:
        raise UsageError("what should stay?", hint="--keep 50, --older-than 30d, or --keep 0")
    if arguments.keep is not None and arguments.keep < 0:
        raise UsageError(f"--keep {arguments.keep} is less than nothing", hint="--keep 50")
    before = None
    if arguments.older_than is not None:
        seconds = seconds_in(arguments.older_than)
        if seconds is None:
            raise UsageError(
                f"--older-than {arguments.older_than!r} is not a time", hint="30d, 12h"
            )
        before = (context.app.clock.now() - timedelta(seconds=seconds)).isoformat()
    moved = clean(require_project(context.app), keep=arguments.keep or 0, before=before)
    context.screen.note(f"moved {counted(len(moved), 'record')} to the trash")
    return 0


CLEAN = Verb(
    """Move the records of closed decisions to the trash; open ones and the newest always stay.""",
    _clean_options,
    _clean,
)
