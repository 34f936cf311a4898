"""Bring in what other task tools keep in a repository: a board, or a folder .aide.

A board has .tasks/task_N.json and .worktrees/index.json: its tasks come onto the board here, and
its worktrees are adopted where they are. Of .aide come the decisions, and the tasks with their
phases. The files are only read. The same import again changes nothing.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context, add_format
from siding.faces.cli.screen.screen import Screen
from siding.ground.errors import counted

if TYPE_CHECKING:
    from siding.importing.bring_in import ImportReport, Item


KINDS = ("task", "worktree", "decision", "phases", "events")
# By `Fate`.
WORDS = {"new": "new", "moved on": "moved on", "there": "already there", "left": "left"}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument(
        "path",
        nargs="?",
        metavar="PATH",
        help="the directory that has them (default: the main checkout)",
    )
    parser.add_argument("-n", "--dry-run", action="store_true", help="only say what would come")
    add_format(parser, "text", "json")


def run(arguments: Namespace, context: Context) -> int:
    from siding.importing.bring_in import import_records, read_source
    from siding.record.place.project import ensure_project, find_project

    screen = context.screen
    project = find_project(context.app)
    if arguments.path is not None:
        place = context.app.cwd / arguments.path
    else:
        main = None if project is None else project.paths.main_worktree
        place = main or context.app.cwd
    source = read_source(place)
    if project is None and not arguments.dry_run:
        project, _made = ensure_project(context.app)
        screen.note(f"made a project of {project.paths.root}")
    report = import_records(project, source, dry_run=arguments.dry_run)
    if arguments.format == "json":
        items = [each._asdict() for each in report.items]
        print_json(screen, {"items": items, "problems": list(report.problems)})
    else:
        _say(screen, report, dry_run=arguments.dry_run)
    return 1 if report.problems else 0


def _say(screen: Screen, report: ImportReport, *, dry_run: bool) -> None:
    from siding.importing.bring_in import Fate

    for item in report.items:
        screen.note(_line(item))
    for problem in report.problems:
        screen.warn(f"not imported: {problem}")
    new = ", ".join(_counted(report, kind) for kind in KINDS if report.count(Fate.NEW, kind))
    verb = "would import" if dry_run else "imported"
    moved_on = report.count(Fate.MOVED_ON)
    rest = [f"{moved_on} {WORDS[Fate.MOVED_ON]}"] if moved_on else []
    rest += [f"{report.count(fate)} {WORDS[fate]}" for fate in (Fate.THERE, Fate.LEFT)]
    rest.append(f"{counted(len(report.problems), 'problem')}")
    screen.note(f"{verb} {new or 'nothing'}; {', '.join(rest)}")


def _line(item: Item) -> str:
    named = f"{item.kind} {item.id} · {item.name}" if item.id else f"{item.kind} · {item.name}"
    note = f" ({item.note})" if item.note else ""
    return f"{WORDS[item.fate]:<14}{named}{note}"


def _counted(report: ImportReport, kind: str) -> str:
    from siding.importing.bring_in import Fate

    number = report.count(Fate.NEW, kind)
    if kind == "phases":
        return counted(number, "task") + " with phases"
    return "events" if kind == "events" else counted(number, kind)
