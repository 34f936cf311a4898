"""What a conversation of the agent used: tokens and dollars by model, turns, calls, time.

It is the newest one of this workspace, or SESSION; with --all it is all conversations that are kept
in this project. `cost` and `stats` are the same. `siding usage` counts all agents of all projects.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any

from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import inert
from siding.faces.cli.screen.words import counted, duration
from siding.ground.errors import UsageError

if TYPE_CHECKING:
    from siding.assistant.looking.spending import ModelSpending, Spending


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("session", nargs="?", metavar="SESSION", default="")
    parser.add_argument("--all", action="store_true", help="all conversations of this project")
    parser.add_argument("--json", action="store_true", help="say it as JSON")


def run(arguments: Namespace, context: Context) -> int:
    from siding.assistant.looking.spending import spending_of, spending_of_all
    from siding.record.place.project import require_project

    if arguments.all and arguments.session:
        raise UsageError("--all is about all conversations", hint="leave SESSION out")
    project = require_project(context.app)
    found = spending_of_all(project) if arguments.all else spending_of(project, arguments.session)
    if arguments.json:
        print_json(context.screen, _record(found))
    else:
        _print(context, found)
    return 0


def _print(context: Context, found: Spending) -> None:
    screen = context.screen
    what = f"{found.session[:8]}  {found.title}" if found.session else "all conversations"
    screen.print(inert(what))
    told = [
        counted(found.turns, "turn"),
        counted(found.requests, "request"),
        counted(sum(each.calls for each in found.tools), "call"),
        f"{duration(found.busy_ms)} at work",
    ]
    screen.print(", ".join([*([] if found.session else [str(found.conversations)]), *told]))
    if found.models:
        screen.print()
        heads = ("MODEL", "INPUT", "CACHE READ", "CACHE WRITE", "OUTPUT", "COST")
        screen.table(heads, [_model_cells(each) for each in found.models])
    if found.tools:
        screen.print()
        rows = [
            (
                inert(each.name),
                str(each.calls),
                str(each.failed),
                duration(each.total_ms),
                duration(each.longest_ms),
            )
            for each in found.tools
        ]
        screen.table(("TOOL", "CALLS", "FAILED", "TIME", "LONGEST"), rows)


def _model_cells(row: ModelSpending) -> tuple[str, ...]:
    tokens = row.tokens
    counts = (tokens.input, tokens.cache_read, tokens.cache_write, tokens.output)
    return (inert(row.model), *(f"{count:,}" for count in counts), _money(row))


def _money(row: ModelSpending) -> str:
    if row.dollars is None:
        return "(price unknown)"
    return f"${row.dollars:,.4f}" + (" + (price unknown)" if row.unpriced else "")


def _record(found: Spending) -> dict[str, Any]:
    return {
        **found._asdict(),
        "models": [
            {
                "model": each.model,
                "input": each.tokens.input,
                "cache_read": each.tokens.cache_read,
                "cache_write": each.tokens.cache_write,
                "output": each.tokens.output,
                "calls": each.tokens.calls,
                "dollars": each.dollars,
                "unpriced": each.unpriced,
            }
            for each in found.models
        ],
        "tools": [each._asdict() for each in found.tools],
    }
