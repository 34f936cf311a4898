"""Count what agents used of their models, each call once, and what it cost.

Read from what Claude Code, Codex, Gemini CLI, opencode and aider keep, as it is now; nothing has to
be imported. Subagents are included. `(not shown)` are calls in no line of a transcript
(compactions, titles), known from the running total that Claude Code keeps.

  siding usage --since 7d --cost
  siding usage --by task --here
"""

from __future__ import annotations

import gc
import io
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from siding.faces.cli.formats import print_json, write_result
from siding.faces.cli.globals import Context, add_format
from siding.faces.cli.screen.screen import Screen, inert
from siding.faces.cli.screen.table import print_table

if TYPE_CHECKING:
    from siding.record.place.project import Project
    from siding.usage.report import UsageReport, UsageRow, WorkflowUsage
    from siding.usage.wire import MeteredRun


BY = ("day", "model", "client", "project", "task", "run", "workflow", "session", "turn")


UNKNOWN = "(price unknown)"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("session", nargs="?", default="", metavar="SESSION", help="only this one")
    parser.add_argument("--by", choices=BY, default="day", help="default: day")
    parser.add_argument(
        "--since", metavar="WHEN", help="since that day: 2026-11-24, today, yesterday, 7d, 2w"
    )
    parser.add_argument("--until", metavar="WHEN", help="and until that day")
    parser.add_argument("--here", action="store_true", help="of this project only")
    parser.add_argument("--cost", action="store_true", help="and what it cost, in dollars")
    parser.add_argument(
        "--wire",
        action="store_true",
        help="of this project's metered runs, what passed the wire, beside what the agents say",
    )
    add_format(parser, "table", "json", "csv")


def run(arguments: Namespace, context: Context) -> int:
    from siding.usage.report import Question, day_of, report

    if arguments.wire:
        return _wire(arguments, context)
    # Everything that was ever counted is looked at, and nothing of it is in circles: to look for
    # some takes a quarter of the time.
    gc.disable()
    now = context.app.clock.now().astimezone()
    found = report(
        context.app,
        Question(
            by=arguments.by,
            since=day_of(arguments.since, now) if arguments.since else None,
            until=day_of(arguments.until, now) if arguments.until else None,
            here=arguments.here,
            session=arguments.session,
            cost=arguments.cost,
        ),
        _of_workflows,
    )
    for sentence in found.problems:
        context.screen.warn(inert(sentence))
    if found.unknown_prices:
        _say_unknown(context, found.unknown_prices)
    if arguments.format == "json":
        print_json(context.screen, [_record(arguments.by, row) for row in found.rows])
    elif arguments.format == "csv":
        write_result(context.screen, None, _csv(arguments.by, found.rows))
    elif found.rows:
        _print(context, arguments.by, found)
    else:
        context.screen.note("no agent has counted any tokens")
    return 0


def _of_workflows(project: Project, spent: Iterable[Any]) -> WorkflowUsage:
    from siding.workflows.acts.usage import workflow_usage  # only asked for with `--by workflow`

    return workflow_usage(project, spent)


def _wire(arguments: Namespace, context: Context) -> int:
    from siding.record.place.project import require_project
    from siding.usage.report import day_of
    from siding.usage.wire import metered_runs

    now = context.app.clock.now().astimezone()
    since, until = (
        day_of(said, now) if said else None for said in (arguments.since, arguments.until)
    )
    runs = metered_runs(require_project(context.app), since, until)
    records = [metered_record(each) for each in runs]
    if arguments.format == "json":
        print_json(context.screen, records)
    elif arguments.format == "csv":
        write_result(context.screen, None, _as_csv(records, "task"))
    elif runs:
        print_metered(context.screen, runs)
    else:
        context.screen.note("no run was metered; `siding run --meter` does")
    return 0


def _say_unknown(context: Context, models: tuple[str, ...]) -> None:
    from siding.ground.installation import adding

    names = inert(", ".join(models))
    context.screen.warn(
        f"no price is known of {names}: what they cost is not in the sums. Prices come from "
        f"`{adding('prices')}` and from prices.yaml in Siding's home"
    )


def _name(row: UsageRow) -> str:
    from siding.usage.report import NOT_SHOWN

    return f"{row.name} {NOT_SHOWN}" if row.hidden else row.name


def _record(by: str, row: UsageRow) -> dict[str, Any]:
    tokens = row.tokens
    record: dict[str, Any] = {
        by: _name(row),
        "input": tokens.input,
        "cache_read": tokens.cache_read,
        "cache_write": tokens.cache_write,
        "cache_write_5m": tokens.cache_write_5m,
        "cache_write_1h": tokens.cache_write_1h,
        "output": tokens.output,
        "reasoning": tokens.reasoning,
        "total": tokens.total,
        "calls": tokens.calls,
    }
    if row.cost is not None:
        # Null rather than 0 where nothing has a known price.
        is_unknown = row.unpriced == tokens.total and row.unpriced > 0
        record["cost"] = None if is_unknown else round(row.cost, 6)
        record["unpriced"] = row.unpriced
    return record


def _csv(by: str, rows: list[UsageRow]) -> str:
    return _as_csv([_record(by, row) for row in rows], by)


def _as_csv(records: list[dict[str, Any]], first: str) -> str:
    import csv  # the table needs none

    text = io.StringIO()
    writer = csv.DictWriter(text, list(records[0]) if records else [first], lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue()


def _print(context: Context, by: str, found: UsageReport) -> None:
    heads = [by.upper(), "CALLS", "INPUT", "CACHE READ", "CACHE WRITE", "OUTPUT"]
    if found.total.cost is not None:
        heads.append("COST")
    print_table(context.screen, tuple(heads), [_cells(row) for row in (*found.rows, found.total)])


def _cells(row: UsageRow) -> tuple[str, ...]:
    tokens = row.tokens
    counts = (tokens.input, tokens.cache_read, tokens.cache_write, tokens.output)
    cells = (inert(_name(row)), str(tokens.calls), *(f"{count:,}" for count in counts))
    return cells if row.cost is None else (*cells, _money(row))


def _money(row: UsageRow) -> str:
    if not row.unpriced:
        return f"${row.cost:,.2f}" if (row.cost or 0) >= 1 else f"${row.cost:.4f}"
    if row.unpriced == row.tokens.total:
        return UNKNOWN
    return f"${row.cost:,.2f} + {UNKNOWN}"


_HEADS = (
    *("TASK", "STEP", "RUN", "REQUESTS", "FAILED", "CUT", "RETRIES"),
    *("INPUT", "CACHE READ", "CACHE WRITE", "OUTPUT", "AGENT SAYS"),
)


def print_metered(screen: Screen, runs: Sequence[MeteredRun]) -> None:
    print_table(screen, _HEADS, [_metered_cells(each) for each in runs])


def metered_record(run: MeteredRun) -> dict[str, Any]:
    """Return a run as JSON and CSV have it."""
    said = run.said
    return {
        "task": run.task,
        "step": run.step,
        "run": run.run,
        "started_at": run.started_at,
        **{name: getattr(run.wire, name) for name in ("requests", "failed", "cut", "retries")},
        **run.tokens._asdict(),
        "agent_says": None if said is None else said.total,
        "difference": run.difference,
    }


def _metered_cells(run: MeteredRun) -> tuple[str, ...]:
    wire, tokens = run.wire, run.tokens
    counts = (wire.requests, wire.failed, wire.cut, wire.retries)
    written = tokens.cache_write_5m + tokens.cache_write_1h
    used = (tokens.input, tokens.cache_read, written, tokens.output)
    if run.said is None:
        said = "-"
    else:
        said = run.difference.removeprefix("on the wire ").removesuffix(" than its transcript says")
        said = f"wire has {said}" if said else "the same"
    return (
        inert(run.task),
        run.step,
        run.run,
        *(f"{count:,}" for count in (*counts, *used)),
        said,
    )
