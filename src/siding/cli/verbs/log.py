"""Show the steps of a task, oldest first. --limit 0 shows all of them.

A number in brackets is that of a step left behind: a rollback or an undo went back to before it.
It is kept, and `siding redo` or `siding rollback --step N` reaches it again.
"""

from argparse import ArgumentParser, Namespace

from siding.app.place.project import require_project
from siding.app.recording.freed import freed_record, marked
from siding.app.recording.logged import PresentLine, Search, drawn, logged
from siding.app.recording.steps import (
    InProgress,
    Step,
    damaged_steps,
    in_progress,
    ledger_problems,
    progress_record,
    same_number,
    step,
)
from siding.cli.formats import add_format, json_text, write_result
from siding.cli.globals import Context
from siding.cli.screen.pager import paged
from siding.cli.screen.screen import Screen, inert, shorten
from siding.cli.screen.words import ago, counted, duration, task_name
from siding.cli.telling.isolation import strayed
from siding.errors import UsageError

COMMAND_COLUMNS = 40  # a command is cut to this where there is no terminal to fit it into
HEADER = ("STEP", "KIND", "COMMAND", "WHEN", "TIME", "EXIT", "CHANGED")


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("-t", "--task", metavar="TASK", help="the task (default: the active one)")
    parser.add_argument("--step", metavar="N", help="this step only")
    parser.add_argument("-n", "--limit", type=int, default=20, metavar="N", help="default: 20")
    parser.add_argument("--graph", action="store_true", help="which step stands on which")
    parser.add_argument("--grep", default="", metavar="TEXT", help="commands with this text")
    parser.add_argument("--path", default="", metavar="PATH", help="steps that changed this path")
    parser.add_argument("--agent", default="", metavar="NAME", help="runs of this agent")
    parser.add_argument("--failed", action="store_true", help="steps that did not end well")
    parser.add_argument("-o", "--output", metavar="FILE", help="write into a file")
    add_format(parser, "table", "json", "markdown")


def run(arguments: Namespace, context: Context) -> int:
    if arguments.limit < 0:
        raise UsageError(f"--limit {arguments.limit} is negative", hint="0 shows every step")
    project = require_project(context.app)
    screen = context.screen
    screen.use_colour(project.settings.color)
    if arguments.step is not None:
        task, one = step(project, arguments.task, arguments.step)
        if others := same_number(project, task, one):
            screen.warn(others)
        steps, line = [one], PresentLine({}, frozenset(), frozenset())
    else:
        search = Search(arguments.grep, arguments.path, arguments.agent, arguments.failed)
        task, steps, line = logged(
            project, arguments.task, limit=arguments.limit or None, search=search
        )
    damaged = damaged_steps(project, task) if arguments.step is None else []
    for sentence in ledger_problems(project, task) if damaged else []:
        screen.warn(inert(sentence))
    status = 1 if damaged else 0
    under_way = [] if arguments.step is not None else in_progress(project, task)
    if arguments.format == "json":
        records = [*(each.as_record() for each in damaged), *marked(project, steps)]
        records += [progress_record(each) for each in under_way]
        write_result(screen, arguments.output, json_text(records) + "\n")
        return status
    if arguments.graph:
        _print_graph(screen, task.name, steps, line)
        return status
    left = line.left_behind
    gone = freed_record(project).of_all()
    rows = [
        _cells(each, left_behind=each.number in left, freed=each.snapshot in gone) for each in steps
    ]
    rows += [_running(each) for each in under_way]
    if arguments.format == "markdown":
        write_result(screen, arguments.output, _markdown(task.name, rows))
        return status
    if not rows:
        screen.note(f"{task_name(task.name)} · no step yet; `siding run -- COMMAND` makes one")
        return status
    if arguments.output is not None:
        write_result(screen, arguments.output, "\n".join("\t".join(row) for row in rows) + "\n")
        return status
    _print_table(screen, task.name, task.id, rows)
    shown = [each for each in steps if each.number in left]
    if shown:
        screen.note(f"{counted(len(shown), 'step')} left behind; --graph shows where", "dim")
    return status


def _print_graph(screen: Screen, name: str, steps: list[Step], line: PresentLine) -> None:
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


def _print_table(screen: Screen, name: str, task_id: str, rows: list[tuple[str, ...]]) -> None:
    if screen.columns is not None:
        screen.note(f"{task_name(name)} ({task_id})", "dim")
    # A command may be a whole script; in a pipe the beginning is enough to recognise it.
    longest = COMMAND_COLUMNS if screen.columns is None else screen.columns
    shown = [(*row[:2], shorten(inert(row[2]), longest), *row[3:]) for row in rows]
    with paged(screen):
        screen.table(HEADER, shown, dim=[row[0].startswith("(") for row in rows])


def _cells(step: Step, *, left_behind: bool, freed: bool) -> tuple[str, ...]:
    change = f"{step.files} +{step.additions} -{step.deletions}" if step.files else "-"
    if step.modes and not step.files:
        change = "modes"  # only permissions changed
    marks = ["" if step.complete else " (incomplete)", " (freed)" if freed else ""]
    return (
        f"({step.id})" if left_behind else step.id,
        step.kind_shown,
        step.title,
        ago(step.ended_at),
        duration(step.duration_ms) if step.duration_ms else "-",
        _exit(step.status, step.exit_code),
        change + "".join(marks) + strayed(step),
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
        state,
        "-",
    )


def _markdown(name: str, rows: list[tuple[str, ...]]) -> str:
    lines = [f"# Steps of {inert(name)}", "", "| " + " | ".join(HEADER) + " |"]
    lines.append("|" + " --- |" * len(HEADER))
    for row in rows:
        cells = [inert(cell).replace("|", "\\|") for cell in row]
        cells[2] = f"`{cells[2].replace('`', chr(39))}`" if cells[2] else ""
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"
