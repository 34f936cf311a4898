"""Show what each task uses on disk, and free closed ones.

A closed task's workspace leaves the trash only after its last snapshot and an archive of everything
that is not in it were written and read back; `siding task reopen` brings it back from them.
Workspaces of open tasks are never touched, nor those that were kept with --keep. Branches of closed
tasks are deleted if every commit on them is elsewhere, and made again when the task is reopened.

--older also frees snapshots for good: those of older steps, of closed tasks and of what open ones
left behind, and of older turns beside a branch (`siding turns`). With the older steps of closed
tasks their large patches go. What it will free is shown first.
The base, the newest state of a task and what was applied always stay.

  siding gc -n                      what would be freed
  siding gc --older 90d
"""

from __future__ import annotations

import os
from argparse import SUPPRESS, ArgumentParser, Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.questions import agreed, can_ask
from siding.faces.cli.screen.screen import Screen, inert
from siding.faces.cli.screen.table import print_table
from siding.faces.cli.screen.words import seconds_in, size
from siding.ground.errors import SidingError, UsageError, counted
from siding.record.place.quantities import bytes_in

if TYPE_CHECKING:
    from siding.tasks.gc import Freed, Report, Retention

RANGES_LISTED = 8
UNMEASURED_LISTED = 5
LONGEST_NAME = 200


class FreeingNeedsYes(SidingError):
    """Snapshots or patches would be freed, and nobody agreed to that. Nothing was freed."""

    code = "needs_consent"

    def __init__(self, retention: Retention) -> None:
        self.what = what_of(retention)
        super().__init__(
            f"{self.what} would be freed for good; nothing was freed",
            hint="--yes frees them, --dry-run only shows them; without --older no snapshot is "
            "freed",
        )


def what_of(retention: Retention) -> str:
    """Return what would be freed, as the beginning of a sentence."""
    parts = []
    if retention.steps or retention.turns:
        whose = whose_snapshots(retention.steps, retention.turns)
        parts = [f"the snapshots of {whose}, about {size(retention.bytes)},"]
    if retention.patches:
        parts.append(f"{whose_patches(retention.patches)}, {size(retention.patch_bytes)},")
    return " and ".join(parts)


def whose_patches(steps: int) -> str:
    """Return ``the large patches of 2 steps``."""
    return f"the large patches of {counted(steps, 'step')}"


def whose_snapshots(steps: int, turns: int) -> str:
    """Return ``2 steps``, ``3 turns beside a branch``, or both."""
    of_turns = [f"{counted(turns, 'turn')} beside a branch"] if turns else []
    return " and ".join([*([counted(steps, "step")] if steps or not turns else []), *of_turns])


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("-n", "--dry-run", action="store_true", help="only say what would be freed")
    parser.add_argument(
        "--budget", metavar="SIZE", help="let closed tasks keep this much, such as 2GiB"
    )
    parser.add_argument(
        "--older",
        metavar="AGE",
        help="only tasks removed longer ago, such as 90d, 12w or 1y; and snapshots of older steps",
    )
    parser.add_argument("-y", "--yes", action="store_true", help="free snapshots without asking")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--background", action="store_true", help=SUPPRESS)  # by hosts of runs


def run(arguments: Namespace, context: Context) -> int:
    from siding.forks.sweep import free_fork_trash, mend
    from siding.record.place.project import require_project
    from siding.record.unfinished.leftovers import free_workflow_trash
    from siding.running.noted_gc import gc_in_background, note_gc
    from siding.tasks.gc import gc, plan_retention

    project = require_project(context.app)
    if arguments.background:
        _leave_terminal()
        gc_in_background(project)
        return 0
    budget = None
    if arguments.budget is not None and (budget := bytes_in(arguments.budget)) is None:
        raise UsageError(f"--budget {arguments.budget!r} is not a size", hint="500MiB, 2GiB, 0")
    older_s = None
    if arguments.older is not None and (older_s := seconds_in(arguments.older)) is None:
        raise UsageError(f"--older {arguments.older!r} is not an age", hint="90d, 12w, 1y")
    retention = None if older_s is None else plan_retention(project, older_s)
    if retention is not None and not arguments.json:
        _say_retention(context.screen, retention)
    if not (arguments.dry_run or arguments.yes):
        _ask(retention, may_ask=not arguments.json)
    report = gc(
        project,
        budget=budget,
        dry_run=arguments.dry_run,
        older_s=older_s,
        retention=retention,
    )
    forks = free_fork_trash(project, older_s, dry_run=arguments.dry_run)
    flows = free_workflow_trash(project, older_s, dry_run=arguments.dry_run)
    if not arguments.dry_run:
        mend(project)
        note_gc(project, report)
    if arguments.json:
        print_json(
            context.screen, {**_record(report, retention), "forks": forks, "workflow_runs": flows}
        )
    else:
        _print(context, report, retention, dry_run=arguments.dry_run)
        if forks:
            word = "would free" if arguments.dry_run else "freed"
            context.screen.note(f"{word} {size(forks)} that forks had in the trash")
        if flows:
            word = "would free" if arguments.dry_run else "freed"
            context.screen.note(f"{word} {size(flows)} of runs of workflows in the trash")
    failed = bool(report.thinned is not None and report.thinned.failed)
    failed = failed or bool(retention is not None and retention.blocked)
    return 1 if failed or any(each.failed and not each.way_out for each in report.done) else 0


def _leave_terminal() -> None:
    """Let others go first, and write nothing to a host that may end before we do."""
    os.nice(19)
    nothing = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nothing, fd)
    os.close(nothing)


def _say_retention(screen: Screen, retention: Retention) -> None:
    """Print which snapshots would be freed, and what the store would get back."""
    from siding.tasks.gc import CHECKOUT

    for each in retention.tasks:
        is_checkout = each.task.state == CHECKOUT
        numbers = sorted(set(each.steps), key=int)
        steps = counted(len(numbers), "turn" if is_checkout else "step")
        whose = inert(each.task.name) if is_checkout and each.task.name else each.task.id
        name = "" if is_checkout else f" {inert(each.task.name)}"
        if numbers:
            screen.print(
                f"free    {whose}{name}: snapshots of {steps} ({ranges(numbers)}), "
                f"about {size(each.bytes)}"
            )
        if each.patches:
            patched = sorted(each.patches, key=int)
            screen.print(
                f"free    {whose}{name}: large patches of {counted(len(patched), 'step')} "
                f"({ranges(patched)}), {size(sum(each.patches.values()))}"
            )
    if retention.dropped and not retention.tasks:
        screen.print(f"free    about {size(retention.bytes)} of snapshots that were freed before")
    if retention.blocked:
        screen.warn(f"no snapshots can be freed: {retention.blocked}")
    for task_id, what in retention.passed.items():
        screen.warn(f"the snapshots of task {task_id} stay while it works: {inert(what)}")
    for task in retention.alone:
        screen.warn(f"the snapshots of task {task.id} stay: its record is not whole ({task.alone})")


def _ask(retention: Retention | None, *, may_ask: bool) -> None:
    """Raise FreeingNeedsYes unless there is nothing to agree to, or a person agrees."""
    if retention is None or not retention.tasks:
        return
    needed = FreeingNeedsYes(retention)
    if not (may_ask and can_ask() and agreed(f"free {needed.what} for good?")):
        raise needed


def ranges(steps: Sequence[str]) -> str:
    """Return the numbers of steps as text: ``0001-0004, 0007``."""
    parts: list[tuple[str, str]] = []
    for step in steps:
        if parts and int(step) <= int(parts[-1][1]) + 1:
            parts[-1] = (parts[-1][0], step)
        else:
            parts.append((step, step))
    shown = [first if first == last else f"{first}-{last}" for first, last in parts[:RANGES_LISTED]]
    return ", ".join([*shown, "…"] if len(parts) > RANGES_LISTED else shown)


def _print(context: Context, report: Report, retention: Retention | None, *, dry_run: bool) -> None:
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
    print_table(screen, header, rows)
    _say_unmeasured(screen, report)
    screen.note(f"the snapshot store takes {size(report.store)} in all")
    if dry_run:
        for use in report.chosen:
            screen.print(f"free    {use.id} {use.name}: {size(use.trash)}")
    _say_done(screen, report)
    _say_thinned(screen, report.thinned)
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
    thins = bool(report.thinned or (retention and retention.tasks))
    if not (report.chosen or report.branches or report.displaced or thins):
        screen.note("nothing to free")
    elif dry_run:
        _say_would(screen, report, retention)


def _say_unmeasured(screen: Screen, report: Report) -> None:
    for each in report.unmeasured[:UNMEASURED_LISTED]:
        what = each.what if len(each.what) <= LONGEST_NAME else each.what[:LONGEST_NAME] + "…"
        screen.warn(f"the sizes lack what cannot be read: {inert(what)} ({inert(each.why)})")
    if len(report.unmeasured) > UNMEASURED_LISTED:
        more = len(report.unmeasured) - UNMEASURED_LISTED
        screen.warn(f"and {counted(more, 'more place')}")


def _say_done(screen: Screen, report: Report) -> None:
    for each in report.done:
        if each.failed is not None:
            screen.warn(f"{each.task.id} {each.task.name} was not freed: {inert(each.failed)}")
            if each.way_out:
                screen.note(f"  {inert(each.way_out)}")
        else:
            screen.note(f"freed {size(each.freed)} of {each.task.id} · {each.task.name}")
            screen.note(f"  what its last snapshot lacks is in {each.archive}")
    if any(each.no_room for each in report.done):
        screen.warn(
            "freeing writes an archive before it deletes: make a little room on this disk, "
            "then run it again"
        )


def _say_thinned(screen: Screen, thinned: Freed | None) -> None:
    if thinned is None:
        return
    if thinned.failed is not None:
        screen.warn(f"snapshots were not freed: {thinned.failed}")
        return
    if thinned.steps or thinned.turns:
        screen.note(
            f"freed the snapshots of {whose_snapshots(thinned.steps, thinned.turns)}: "
            f"{size(max(0, thinned.bytes))} of the store"
        )
    if thinned.patches:
        screen.note(f"freed {whose_patches(thinned.patches)}: {size(thinned.patch_bytes)}")
    if not (thinned.steps or thinned.turns or thinned.patches):
        left = max(0, thinned.bytes) + thinned.patch_bytes
        screen.note(f"freed {size(left)} that an earlier freeing had left")


def _say_would(screen: Screen, report: Report, retention: Retention | None) -> None:
    if retention is not None and retention.tasks:
        screen.note(f"{what_of(retention)} would be freed for good")
    if report.chosen:
        screen.note(f"{counted(len(report.chosen), 'task')} would be freed")
    if report.branches:
        screen.note(f"{counted(len(report.branches), 'branch', 'branches')} would be deleted")


def _record(report: Report, retention: Retention | None) -> dict[str, object]:
    planned = [] if retention is None else retention.tasks
    return {
        "snapshots": {
            "would_free": [
                {
                    "id": each.task.id,
                    "steps": each.steps,
                    "bytes": each.bytes,
                    "patches": sorted(each.patches, key=int),
                    "patch_bytes": sum(each.patches.values()),
                }
                for each in planned
            ],
            "bytes": 0 if retention is None else retention.bytes,
            "patch_bytes": 0 if retention is None else retention.patch_bytes,
            "blocked": "" if retention is None else retention.blocked,
            "left_alone": [] if retention is None else [each.id for each in retention.alone],
            "passed_over": [] if retention is None else list(retention.passed),
            "freed": None if report.thinned is None else report.thinned._asdict(),
        },
        "tasks": [{**use._asdict(), "total": use.total} for use in report.uses],
        "would_free": [use.id for use in report.chosen],
        "freed": [
            {
                "id": each.task.id,
                "bytes": each.freed,
                "failed": each.failed,
                **({"way_out": each.way_out} if each.way_out else {}),
            }
            for each in report.done
        ],
        "store": report.store,
        "swept": report.swept,
        "displaced": report.displaced,
        "branches": [each.record() for each in report.branches],
        "unpacked": report.unpacked,
        "unmeasured": [each._asdict() for each in report.unmeasured],
    }
