"""The verbs about questions that were put: list, show, take back, clear away; and their lines.

All texts of a decision are made inert first.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from datetime import timedelta
from typing import TYPE_CHECKING

from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import Screen, inert, shorten
from siding.faces.cli.screen.table import print_table
from siding.faces.cli.screen.words import ago, local_time, seconds_in
from siding.faces.cli.verb import Verb
from siding.ground.errors import UsageError, counted
from siding.ground.ids import run_or_step

if TYPE_CHECKING:
    from siding.asking.origin import QuotedSource
    from siding.asking.views import DecisionView, ItemView, OptionView
    from siding.record.place.project import Project

KINDS = {"single": "choose one", "multiple": "choose several", "text": "write an answer"}

_EFFECT_FILES, _EFFECT_LINES = 20, 40  # that are shown of an effect, and of its patch


def _list_options(parser: ArgumentParser) -> None:
    parser.add_argument("-a", "--all", action="store_true", help="answered and cancelled ones too")
    parser.add_argument("-n", "--limit", type=int, default=0, metavar="N", help="default: all")
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
    header = ("DECISION", "STATE", *how, "ASKED", "TASK", "QUESTION")
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
    parser.add_argument(
        "session", nargs="?", metavar="DECISION", help="which one (default: the newest)"
    )
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def _show(arguments: Namespace, context: Context) -> int:
    from siding.asking.lookup import find
    from siding.asking.question import page_of
    from siding.asking.views import as_record
    from siding.record.place.project import require_project

    project = require_project(context.app)
    decision = find(project, arguments.session)
    if arguments.json:
        print_json(context.screen, as_record(decision))
        return 0
    print_head(context.screen, decision)
    for item in decision.items:
        print_item(context.screen, project, decision, item)
    print_effect_of(context.screen, project, decision)
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
    parser.add_argument("session", metavar="DECISION", help="which one")
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
    parser.add_argument("-n", "--dry-run", action="store_true", help="only say what would be moved")


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
    project, keep = require_project(context.app), arguments.keep or 0
    found = clean(project, keep=keep, before=before, dry_run=arguments.dry_run)
    records = counted(len(found), "record")
    if arguments.dry_run:
        for session_id in found:
            context.screen.print(session_id)
        context.screen.note(f"{records} would be moved to the trash")
    else:
        context.screen.note(f"moved {records} to the trash")
    return 0


CLEAN = Verb(
    """Move the records of closed decisions to the trash; open ones and the newest always stay.""",
    _clean_options,
    _clean,
)


def print_head(screen: Screen, decision: DecisionView) -> None:
    """Print who asked a decision, what it is about, and its state."""
    colour = {"open": "yellow", "answered": "green"}.get(decision.state, "dim")
    by = f" by {inert(decision.agent)}" if decision.agent else ""
    where = f" in task {inert(decision.task_id)}" if decision.task_id else ""
    step = f", {inert(run_or_step(decision.step_id))}" if decision.step_id else ""
    asked = f"asked {ago(decision.created_at)}{by}{where}{step}"
    name = screen.style(inert(decision.session_id), "bold")
    screen.print(f"{name} · {screen.style(decision.state, colour)} · {asked}")
    screen.print(f"{inert(decision.task)} ({inert(decision.source)})")
    if decision.completed_at:
        how = f" ({inert(decision.how_closed)})" if decision.how_closed else ""
        screen.print(f"{decision.state} {local_time(decision.completed_at)}{how}")
    if decision.gate:
        screen.print(f"gate of phase {inert(decision.gate)}: the answer is a person's")
    if decision.reason:
        screen.print(f"because: {inert(decision.reason)}")


def print_effect_of(screen: Screen, project: Project, decision: DecisionView) -> None:
    """Print what the command that a decision is about would change, if it is about one."""
    from siding.effect.effect import EffectState
    from siding.effect.store import effect_of, shown_lines
    from siding.faces.cli.telling.effects import print_effect

    effect = effect_of(project, decision.session_id)
    if effect is None:
        return
    screen.print()
    print_effect(screen, shown_lines(effect, files=_EFFECT_FILES, patch=_EFFECT_LINES))
    more = {
        EffectState.PENDING: "waits for it, and has the patch",
        EffectState.STALE: "tries it again, and has the patch",
    }
    if effect.patch or effect.state in more:
        what = more.get(effect.state, "has the patch")
        screen.note(f"siding decide effect {inert(decision.session_id)} {what}")


def print_item(screen: Screen, project: Project, decision: DecisionView, item: ItemView) -> None:
    """Print one question, the lines it is about, and what can be chosen."""
    from siding.asking.lookup import source_of

    screen.print()
    rule = KINDS[item.kind]
    if item.kind == "multiple":
        rule = f"choose {range_of(item)}"
    title = screen.style(f"{item.id}. {inert(item.title)}", "bold")
    screen.print(f"{title}  {screen.style(f'[{rule}]', 'dim')}")
    # A line beside it sets it apart: a plan's numbered steps look like the options below it.
    for line in inert(item.context.strip(), lines=True).splitlines():
        screen.print(f"   {screen.style('│', 'dim')} {line}".rstrip())
    source = source_of(project, decision, item)
    if source is not None:
        _print_source(screen, source)
    for number, option in enumerate(item.options, start=1):
        _print_option(screen, number, option, chosen=option.value in item.values)
    if item.kind == "text":
        for line in inert("\n".join(item.values), lines=True).splitlines():
            screen.print(f"   {screen.style('answer:', 'green')} {line}")
        if item.suggested and not item.values:
            screen.print(f"   suggested: {inert(item.suggested)}")
    if item.note:
        screen.print(f"   note: {inert(item.note)}")


def range_of(item: ItemView) -> str:
    """Return how many options of a multiple choice are chosen, in words."""
    if item.least == item.most:
        return str(item.least)
    return f"{item.least} to {item.most}"


def _print_option(screen: Screen, number: int, option: OptionView, *, chosen: bool) -> None:
    mark = screen.style("*", "green") if chosen else " "
    facts = [inert(option.value)] if option.value != option.label else []
    if option.score is not None:
        facts.append(f"score {option.score:g}")
    if option.recommended:
        facts.append(screen.style("recommended", "green"))
    told = f"  ({', '.join(facts)})" if facts else ""
    screen.print(f" {mark} {number}) {inert(option.label)}{told}")
    for sign, style, texts in (("+", "green", option.pros), ("-", "red", option.cons)):
        for text in texts:
            screen.print(f"      {screen.style(sign, style)} {inert(text)}")


def _print_source(screen: Screen, source: QuotedSource) -> None:
    where = f"{inert(source.file)}:{source.start}-{source.end}"
    if source.problem:
        screen.print(screen.style(f"   {where}: {inert(source.problem)}", "dim"))
        return
    screen.print(screen.style(f"   {where}", "cyan"))
    for line in source.lines:
        mark = ">" if line.asked else " "
        text = f"   {mark}{line.number:>5} | {inert(line.text)}"
        screen.print(text if line.asked else screen.style(text, "dim"))
