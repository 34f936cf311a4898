"""Show the steps of a task, oldest first.

A number in brackets is that of a step left behind: a rollback or an undo went back to before it.
It is kept, and `siding redo` or `siding rollback --step N` reaches it again. The turns of a run are
under its line, dim; more than a few are counted, and --turns shows them.

  siding log
  siding log --failed               what did not end well
  siding log --path src/parser.py   the steps that changed this file
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from typing import TYPE_CHECKING

from siding.faces.cli.globals import Context, add_format
from siding.faces.cli.screen.pager import paged
from siding.faces.cli.screen.screen import Screen, inert, shorten
from siding.faces.cli.screen.table import print_table
from siding.faces.cli.screen.words import ago, duration, task_name
from siding.ground.errors import UsageError, counted
from siding.ground.namedtuples import NamedTuple

if TYPE_CHECKING:
    from siding.record.place.project import Project
    from siding.record.recording.logged import PresentLine, Task
    from siding.record.recording.missing_steps import InProgress
    from siding.record.recording.steps import Step

COMMAND_COLUMNS = 40  # a command is cut to this where there is no terminal to fit it into
NO_STEP = "no step yet; `siding run -- COMMAND` makes one"
FEW = 3  # turns of a run that are shown one by one
HEADER = ("STEP", "KIND", "COMMAND", "WHEN", "TIME", "TOKENS", "EXIT", "CHANGED")
_TOKENS = HEADER.index("TOKENS")


class _Found(NamedTuple):
    """The steps to show. `is_log` is False for one that was named."""

    task: Task
    steps: list[Step]
    line: PresentLine
    turns: dict[str, list[Step]]  # those that are below the lines of their runs, by run
    is_log: bool


class _Row(NamedTuple):
    """One row of the table."""

    cells: tuple[str, ...]
    is_dim: bool = True


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("-t", "--task", metavar="TASK", help="the task (default: this terminal's)")
    parser.add_argument("--step", metavar="N", help="this step only")
    parser.add_argument(
        "-n", "--limit", type=int, default=20, metavar="N", help="default: 20; 0 shows all"
    )
    parser.add_argument("--turns", action="store_true", help="all turns under their runs")
    parser.add_argument("--graph", action="store_true", help="which step stands on which")
    parser.add_argument("--grep", default="", metavar="TEXT", help="commands with this text")
    parser.add_argument("--path", default="", metavar="PATH", help="steps that changed this path")
    parser.add_argument("--agent", default="", metavar="NAME", help="runs of this agent")
    parser.add_argument("--failed", action="store_true", help="steps that did not end well")
    parser.add_argument("-o", "--output", metavar="FILE", help="write into a file")
    add_format(parser, "table", "json", "markdown")


def run(arguments: Namespace, context: Context) -> int:
    from siding.record.place.project import require_project
    from siding.record.recording.freed import freed_snapshots, marked
    from siding.record.recording.missing_steps import (
        damaged_steps,
        in_progress,
        ledger_problems,
        progress_record,
    )

    if arguments.limit < 0:
        raise UsageError(f"--limit {arguments.limit} is negative", hint="0 shows every step")
    project = require_project(context.app)
    screen = context.screen
    screen.use_colour(project.settings.color)
    found = _found(project, arguments, screen)
    task, damaged = found.task, damaged_steps(project, found.task) if found.is_log else []
    for sentence in ledger_problems(project, task) if damaged else []:
        screen.warn(inert(sentence))
    status = 1 if damaged else 0
    under_way = in_progress(project, task) if found.is_log else []
    if arguments.format == "json":
        from siding.faces.cli.formats import json_text, write_result

        records = [*(each.as_record() for each in damaged), *marked(project, task.id, found.steps)]
        records += [progress_record(each) for each in under_way]
        write_result(screen, arguments.output, json_text(records) + "\n")
        return status
    if arguments.graph:
        _print_graph(screen, task.name, found.steps, found.line)
        return status
    left = found.line.left_behind
    gone = freed_snapshots(project)
    rows = _rows(
        found,
        under_way,
        lambda each: _cells(each, left_behind=each.number in left, freed=each.snapshot in gone),
        prompts=None if arguments.turns else arguments.limit or sys.maxsize,
    )
    header, rows = _without_empty(rows)
    cells = [row.cells for row in rows]
    if arguments.format == "markdown":
        _write(screen, arguments, _markdown(task.name, header, cells))
    elif not rows:
        is_search = any((arguments.grep, arguments.path, arguments.agent, arguments.failed))
        nothing = "no step fits; `siding log -n 0` shows all" if is_search else NO_STEP
        screen.note(f"{task_name(task.name)} · {nothing}")
    elif arguments.output is not None:
        _write(screen, arguments, "\n".join("\t".join(row) for row in cells) + "\n")
    else:
        _print_table(screen, task.name, task.id, header, rows)
        _say_left_behind(screen, found, left)
    return status


def _write(screen: Screen, arguments: Namespace, text: str) -> None:
    from siding.faces.cli.formats import write_result

    write_result(screen, arguments.output, text)


def _found(project: Project, arguments: Namespace, screen: Screen) -> _Found:
    from siding.record.recording.logged import PresentLine, Search, logged, logged_folded

    if arguments.step is not None:
        from siding.record.recording.steps import same_number, step

        task, one = step(project, arguments.task, arguments.step)
        if others := same_number(project, task, one):
            screen.warn(others)
        line = PresentLine({}, frozenset(), frozenset())
        return _Found(task, [one], line, turns={}, is_log=False)
    search = Search(arguments.grep, arguments.path, arguments.agent, arguments.failed)
    limit = arguments.limit or None
    is_table = arguments.format == "table" and not arguments.graph and arguments.output is None
    if is_table and search == Search():
        (task, steps, line), turns = logged_folded(project, arguments.task, limit=limit)
    else:
        task, steps, line = logged(project, arguments.task, limit=limit, search=search)
        turns = {}
    return _Found(task, steps, line, turns=turns, is_log=True)


def _rows(
    found: _Found,
    under_way: list[InProgress],
    cells: Callable[[Step], tuple[str, ...]],
    *,
    prompts: int | None,
) -> list[_Row]:
    """Return the rows of the steps, of what is under way, and of the turns below their runs.

    Of the turns without a prompt all are shown if they are few, and the newest `prompts` with one.
    None: all of both.
    """
    rows: list[_Row] = []

    def add(run: str, own: tuple[str, ...]) -> None:
        rows.append(_Row(own, is_dim=own[0].startswith("(")))
        turns = found.turns.get(run, [])
        hidden = [] if prompts is None else _hidden(turns, prompts)
        counted_ones = {turn.number for turn in hidden}
        if hidden:
            told = f"{counted(len(hidden), 'turn')} of {run}; siding log --turns"
            cells_of_many = ("  ...", "turn", told, ago(hidden[-1].ended_at), *"---")
            rows.append(_Row((*cells_of_many, _change_of_many(hidden))))
        for turn in turns:
            if turn.number in counted_ones:
                continue
            number, *rest = cells(turn)
            rows.append(_Row((f"  {number}", *rest)))

    for each in found.steps:
        add(each.run, cells(each))
    for progress in under_way:
        add(progress.name, _running(progress))
    return rows


def _hidden(turns: list[Step], prompts: int) -> list[Step]:
    """Return the turns that are counted in one row: what an agent was asked is shown."""
    asked = [turn for turn in turns if _is_prompt(turn)]
    others = [turn for turn in turns if not _is_prompt(turn)]
    earlier = asked[: len(asked) - prompts] if len(asked) > prompts else []
    many = others if len(others) > FEW else []
    return sorted((*earlier, *many), key=lambda turn: turn.number)


def _is_prompt(turn: Step) -> bool:
    detail = turn.as_checkpoint
    return detail is not None and bool(detail.prompt)


def _change_of_many(turns: list[Step]) -> str:
    names = {name for turn in turns for name in turn.diff_stat.file_list}
    added, deleted = sum(t.additions for t in turns), sum(t.deletions for t in turns)
    return f"{len(names)} +{added} -{deleted}" if names else "-"


def _without_empty(rows: list[_Row]) -> tuple[tuple[str, ...], list[_Row]]:
    """Return header and rows, without the tokens where no step has any."""
    if any(row.cells[_TOKENS] != "-" for row in rows):
        return HEADER, rows

    def rest(cells: tuple[str, ...]) -> tuple[str, ...]:
        return (*cells[:_TOKENS], *cells[_TOKENS + 1 :])

    return rest(HEADER), [row._replace(cells=rest(row.cells)) for row in rows]


def _say_left_behind(screen: Screen, found: _Found, left: frozenset[int]) -> None:
    steps = [*found.steps, *(turn for turns in found.turns.values() for turn in turns)]
    count = sum(each.number in left for each in steps)
    if count:
        screen.note(f"{counted(count, 'step')} left behind; --graph shows where", "dim")


def _print_graph(screen: Screen, name: str, steps: list[Step], line: PresentLine) -> None:
    from siding.record.recording.logged import drawn

    if not steps:
        screen.note(f"{task_name(name)} · no step")
    with paged(screen):
        for columns, each, on in drawn(line, steps):
            is_here = each.number in line.line
            number = each.id if is_here else f"({each.id})"
            where = "" if on is None else f"on {on:04d} · " if on else "on the base · "
            told = f"{columns}  {number:<6}  {where}{each.kind_shown} {inert(each.title)}"
            told = shorten(told, screen.columns or COMMAND_COLUMNS * 2)
            screen.print(told if is_here else screen.style(told, "dim"))


def _print_table(
    screen: Screen, name: str, task_id: str, header: tuple[str, ...], rows: list[_Row]
) -> None:
    if screen.columns is not None:
        screen.note(f"{task_name(name)} ({task_id})", "dim")
    # A command may be a whole script; in a pipe the beginning is enough to recognise it.
    longest = COMMAND_COLUMNS if screen.columns is None else screen.columns
    shown = [(*row[:2], shorten(inert(row[2]), longest), *row[3:]) for row, _is_dim in rows]
    with paged(screen):
        print_table(screen, header, shown, dim=[row.is_dim for row in rows])


def _cells(step: Step, *, left_behind: bool, freed: bool) -> tuple[str, ...]:
    from siding.usage.brief import tokens_of

    change = f"{step.files} +{step.additions} -{step.deletions}" if step.files else "-"
    if step.modes and not step.files:
        change = "modes"  # only permissions changed
    elif not step.files and (step.links or step.directories):
        change = "links" if step.links else "directories"
    if step.turns is not None:
        change = f"{step.turns.files} in turns" + ("" if change == "-" else f", {change}")
    marks = ["" if step.complete else " (incomplete)", " (freed)" if freed else ""]
    return (
        f"({step.id})" if left_behind else step.id,
        step.kind_shown,
        step.heading,
        ago(step.ended_at),
        duration(step.duration_ms) if step.duration_ms else "-",
        tokens_of(step) or "-",
        _exit(step.status, step.exit_code),
        change + "".join(marks) + _trapped(step) + _strayed(step),
    )


def _exit(status: str, exit_code: int | None) -> str:
    if status in ("interrupted", "timeout", "blocked"):
        return status
    return "-" if exit_code is None else str(exit_code)


def _running(progress: InProgress) -> tuple[str, ...]:
    running = progress.intent
    state = "running" if progress.holder is not None else "cut off"
    command = running.title
    return (
        progress.name,
        running.kind,
        command,
        ago(running.started_at),
        "-",
        "-",
        state,
        "-",
    )


def _markdown(name: str, header: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [f"# Steps of {inert(name)}", "", "| " + " | ".join(header) + " |"]
    lines.append("|" + " --- |" * len(header))
    for row in rows:
        cells = [inert(cell).replace("|", "\\|") for cell in row]
        cells[2] = f"`{cells[2].replace('`', chr(39))}`" if cells[2] else ""
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _strayed(step: Step) -> str:
    """Return the mark that `siding log` puts behind a step with alarming changes outside."""
    found = step.isolation
    return " (outside!)" if found and found.alarms else ""


def _trapped(step: Step) -> str:
    """Return the mark that `siding log` puts behind a step with traps."""
    count = step.trap_count
    return f" ({counted(count, 'trap')})" if count else ""
