"""Count the tokens that conversations used: each call once, whatever copies of it there are.

Subagents are included. `(not shown)` are calls in no line of a transcript (compactions, titles),
known from the running total that Claude Code keeps.
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from functools import cache, partial

from siding.app.place.project import Project, require_project
from siding.app.sessions.upkeep import Spent, task_of, usage
from siding.cli.formats import add_format, print_json
from siding.cli.globals import Context

NOT_SHOWN = "(not shown)"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("session", nargs="?", metavar="SESSION", help="only this one")
    parser.add_argument("--by", choices=("day", "model", "task", "session"), default="day")
    add_format(parser, "table", "json")


def run(arguments: Namespace, context: Context) -> int:
    project = require_project(context.app)
    spent, unreadable = usage(project, arguments.session)
    for session in unreadable:
        context.screen.warn(f"session {session} cannot be read and is not counted")
    key = _key(project, arguments.by)
    sums: dict[str, list[int]] = {}
    for each in spent:
        name = f"{key(each)} {NOT_SHOWN}" if each.hidden else key(each)
        row = sums.setdefault(name, [0] * 5)
        for number, count in enumerate(each.tokens):
            row[number] += count
    names = ("input", "output", "cache_read", "cache_write", "calls")
    if arguments.format == "json":
        print_json(
            context.screen,
            [
                {arguments.by: name, **dict(zip(names, row, strict=True))}
                for name, row in sorted(sums.items())
            ],
        )
        return 0
    if not sums:
        context.screen.note("no session has counted any tokens")
        return 0
    total = [sum(column) for column in zip(*sums.values(), strict=True)]
    context.screen.table(
        (arguments.by.upper(), "CALLS", "INPUT", "OUTPUT", "CACHE READ", "CACHE WRITE"),
        [_cells(name, row) for name, row in [*sorted(sums.items()), ("total", total)]],
    )
    return 0


def _key(project: Project, by: str) -> Callable[[Spent], str]:
    if by == "task":
        task_in = cache(partial(task_of, project))
        return lambda each: task_in(each.cwd) or "-"
    if by == "session":
        return lambda each: each.session_id
    if by == "model":
        return lambda each: each.model
    return lambda each: each.day or "-"


def _cells(name: str, row: list[int]) -> tuple[str, ...]:
    tokens = [f"{count:,}" for count in row[:4]]
    return (name, str(row[4]), *tokens)
