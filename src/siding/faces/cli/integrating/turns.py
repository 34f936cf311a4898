"""List what agents did in this checkout, turn by turn, beside your branch; or show one.

An agent that you have integrated (`siding integrate`) and start by yourself leaves a snapshot
before and after each turn. Your files, branch, index and commits are not touched, and there is
nothing to go back to by itself: `siding turns N | git apply -R` takes what a turn has changed out
of your files, and git says what is in its way.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.colours import coloured_patch
from siding.faces.cli.screen.pager import paged
from siding.faces.cli.screen.screen import Screen, inert
from siding.faces.cli.screen.words import ago, changes
from siding.ground.errors import UsageError

if TYPE_CHECKING:
    from siding.integrating.turns import BesideTurn, Turns


_HEADER = ("TURN", "WHEN", "AGENT", "BRANCH", "CHANGED", "PROMPT")


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("turn", nargs="?", metavar="N", help="show this one, or the `last`")
    parser.add_argument("--json", action="store_true", help="print the turn (or all) as JSON")


def run(arguments: Namespace, context: Context) -> int:
    from siding.integrating.turns import turns
    from siding.record.place.project import require_project

    project = require_project(context.app)
    screen = context.screen
    screen.use_colour(project.settings.color)
    found = turns(project)
    if arguments.turn is None:
        _list(screen, found, as_json=arguments.json)
        return 0
    turn = found.find(arguments.turn)
    if arguments.json:
        print_json(screen, _record(turn))
    elif not turn.after:
        raise UsageError(
            f"turn {turn.number} has not ended", hint="its end is recorded when the agent stops"
        )
    else:
        found.require(turn)
        _show(screen, found, turn)
    return 0


def _list(screen: Screen, found: Turns, *, as_json: bool) -> None:
    if as_json:
        print_json(screen, [_record(each) for each in found.all])
        return
    if not found.all:
        screen.note("no turn of an agent was recorded in this checkout")
        screen.note("  `siding integrate AGENT` has an agent report them")
        return
    dim = [bool(found.freed_at(each)) for each in found.all]
    rows = [_cells(each, is_freed=freed) for each, freed in zip(found.all, dim, strict=True)]
    screen.table(_HEADER, rows, dim=dim)


def _cells(turn: BesideTurn, *, is_freed: bool) -> tuple[str, ...]:
    from siding.integrating.turns import title_of

    changed = changes(*turn.figures) if turn.after else "(not ended)"
    changed += " (freed)" if is_freed else ""
    branch = inert(turn.branch) or "-"
    return str(turn.number), ago(turn.at), turn.agent, branch, changed, inert(title_of(turn))


def _show(screen: Screen, found: Turns, turn: BesideTurn) -> None:
    if not sys.stdout.isatty() and not screen.colour:
        sys.stdout.flush()
        found.write_patch(turn, sys.stdout.fileno())  # to a program, byte for byte
        return
    with paged(screen):
        branch = f" on {inert(turn.branch)}" if turn.branch else ""
        screen.print(screen.style(f"turn {turn.number}{branch}, {ago(turn.at)}", "bold"))
        screen.print(f"  {turn.agent}, session {inert(turn.session)}")
        for prompt in turn.prompts:
            for at, line in enumerate(prompt.splitlines()):
                screen.print(f"  {' ' if at else '>'} {inert(line)}")
        screen.print(f"  {changes(*turn.figures)}")
        for line in found.patch_lines(turn):
            screen.print(coloured_patch(screen, line))


def _record(turn: BesideTurn) -> dict[str, object]:
    figures = turn.figures._asdict()
    record = {**turn._asdict(), **figures}
    del record["figures"]
    return record
