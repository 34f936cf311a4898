"""Show what each task uses on disk, and free closed ones.

A closed task's workspace leaves the trash only after its last snapshot and an archive of everything
that is not in it were written and read back; `siding task reopen` brings it back from them. Open
tasks are never touched, nor workspaces that were kept with --keep. Branches of closed tasks are
deleted if every commit on them is elsewhere, and made again when the task is reopened.
"""

from argparse import ArgumentParser, Namespace

from siding.app.life.gc import Report, gc
from siding.app.place.project import require_project
from siding.app.place.settings import bytes_in
from siding.cli.formats import print_json
from siding.cli.globals import Context
from siding.cli.screen.screen import Screen
from siding.cli.screen.words import counted, seconds_in, size
from siding.errors import UsageError


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="only say what would be freed")
    parser.add_argument(
        "--budget", metavar="SIZE", help="let closed tasks keep this much, such as 2GiB"
    )
    parser.add_argument(
        "--older", metavar="AGE", help="only tasks removed longer ago, such as 90d, 12w or 1y"
    )
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")


def run(arguments: Namespace, context: Context) -> int:
    project = require_project(context.app)
    budget = None
    if arguments.budget is not None and (budget := bytes_in(arguments.budget)) is None:
        raise UsageError(f"--budget {arguments.budget!r} is not a size", hint="500MiB, 2GiB, 0")
    older_s = None
    if arguments.older is not None and (older_s := seconds_in(arguments.older)) is None:
        raise UsageError(f"--older {arguments.older!r} is not an age", hint="90d, 12w, 1y")
    report = gc(project, budget=budget, dry_run=arguments.dry_run, older_s=older_s)
    if arguments.json:
        print_json(context.screen, _record(report))
    else:
        _print(context, report, dry_run=arguments.dry_run)
    return 1 if any(each.failed for each in report.done) else 0


def _print(context: Context, report: Report, *, dry_run: bool) -> None:
    screen = context.screen
    header = ("TASK", "NAME", "STATE", "WORKSPACE", "SNAPSHOTS", "RECORDS", "TRASH", "ARCHIVE")
    rows = [
        (
            use.id,
            use.name,
            use.state,
            size(use.workspace),
            size(use.snapshots),
            size(use.artifacts),
            size(use.trash),
            size(use.archive),
        )
        for use in report.uses
    ]
    screen.table(header, rows)
    screen.note(f"the snapshot store takes {size(report.store)} in all")
    if dry_run:
        for use in report.chosen:
            screen.print(f"free    {use.id} {use.name}: {size(use.trash)}")
    _say_done(screen, report)
    for branch in report.branches:
        if dry_run:
            screen.print(f"delete  branch {branch.branch}: {branch.why}")
        else:
            screen.note(branch.sentence)
    if report.swept:
        screen.note(f"freed {size(report.swept)} that cut-off commands had left")
    if report.displaced and dry_run:
        screen.print(f"free    at most {size(report.displaced)} of replaced files")
    elif report.displaced:
        screen.note(f"freed {size(report.displaced)} of replaced files")
    if report.unpacked is not None:
        screen.warn(f"the packs of the snapshot store stay as they are: {report.unpacked}")
    if not (report.chosen or report.branches or report.displaced):
        screen.note("nothing to free")
    elif dry_run:
        _say_would(screen, report)


def _say_done(screen: Screen, report: Report) -> None:
    for each in report.done:
        if each.failed is not None:
            screen.warn(f"{each.task.id} {each.task.name} was not freed: {each.failed}")
        else:
            screen.note(f"freed {size(each.freed)} of {each.task.id} · {each.task.name}")
            screen.note(f"  what its last snapshot lacks is in {each.archive}")
    if any(each.no_room for each in report.done):
        screen.warn(
            "freeing writes an archive before it deletes: make a little room on this disk, "
            "then run it again"
        )


def _say_would(screen: Screen, report: Report) -> None:
    if report.chosen:
        screen.note(f"{counted(len(report.chosen), 'task')} would be freed")
    if report.branches:
        screen.note(f"{counted(len(report.branches), 'branch', 'branches')} would be deleted")


def _record(report: Report) -> dict[str, object]:
    return {
        "tasks": [{**use._asdict(), "total": use.total} for use in report.uses],
        "would_free": [use.id for use in report.chosen],
        "freed": [
            {"id": each.task.id, "bytes": each.freed, "failed": each.failed} for each in report.done
        ],
        "store": report.store,
        "swept": report.swept,
        "displaced": report.displaced,
        "branches": [each.record() for each in report.branches],
        "unpacked": report.unpacked,
    }
