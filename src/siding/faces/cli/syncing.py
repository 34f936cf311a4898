"""Bring what has moved on the base branch into the task's workspace, as a step.

Its commits are merged; --rebase repeats the task's own commits on top of them, where none was
pushed. What is not committed stays so. A conflict is left in the workspace, as git leaves one, for
you or an agent to resolve. `siding undo` takes all of it back. Nothing is fetched.

  siding sync                       what the branch has that the task started from
  siding sync --dry-run             what would come in, and what conflicts
  siding sync --onto origin/main    another branch, as the last `git fetch` left it
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any

from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.options import add_beside_arguments
from siding.faces.cli.screen.screen import Screen, inert
from siding.ground.errors import counted

if TYPE_CHECKING:
    from siding.syncing.sync import Synced, SyncPlan


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("-t", "--task", metavar="TASK", help="the task (default: this terminal's)")
    parser.add_argument(
        "--onto", metavar="BRANCH", help="the branch (default: the one the task started from)"
    )
    parser.add_argument(
        "--rebase", action="store_true", help="repeat the task's commits on it; no merge commit"
    )
    parser.add_argument("-n", "--dry-run", action="store_true", help="only say what would be done")
    parser.add_argument("-f", "--force", action="store_true", help="move obstacles into the trash")
    add_beside_arguments(parser)
    parser.add_argument("--wait", action="store_true", help="wait while the task is busy")
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def run(arguments: Namespace, context: Context) -> int:
    from siding.faces.cli.telling.beside import stop_first
    from siding.faces.cli.telling.restorations import beside_of, with_consent
    from siding.record.place.project import require_project
    from siding.record.place.selection import select
    from siding.syncing.sync import SyncRequest, preview, sync

    project = require_project(context.app)
    screen = context.screen
    request = SyncRequest(
        task=arguments.task,
        onto=arguments.onto,
        rebase=arguments.rebase,
        force=arguments.force,
        wait=arguments.wait,
        beside=beside_of(arguments),
    )
    if arguments.dry_run:
        with preview(project, request) as (task, plan):
            if arguments.json:
                print_json(screen, _record(plan))
            else:
                _show(screen, plan, task.name)
            return 1 if plan.conflicts else 0
    if arguments.stop:
        stop_first(screen, project, select(project, arguments.task).id)
    done = with_consent(
        screen, lambda force: sync(project, request._replace(force=force)), force=request.force
    )
    if arguments.json:
        print_json(screen, _done_record(done))
    _say(screen, done)
    return 1 if done.plan.conflicts else 0


def _show(screen: Screen, plan: SyncPlan, name: str) -> None:
    if plan.nothing_to_do:
        screen.print(_up_to_date(plan, name))
        return
    screen.print(f"from      {_from(plan)}")
    screen.print(f"how       {_how(plan)}")
    for commit in plan.coming.newest:
        screen.print(f"commit    {commit.sha[:10]} {inert(commit.subject)}")
    more = plan.coming.commits - len(plan.coming.newest)
    if more:
        screen.print(f"          and {more} more")
    _conflicts(screen, plan)
    for note in plan.notes:
        screen.note(note, "yellow")


def _say(screen: Screen, done: Synced) -> None:
    from siding.faces.cli.telling.restorations import tell_paused, tell_restored

    plan = done.plan
    if done.restored is None:
        screen.note(_up_to_date(plan, done.task.name))
        return
    what = f"{_from(plan)} brought in"
    # What is staged and under way is as the branch makes it, and said below.
    tell_restored(screen, done.task.name, done.restored, what, without=("index", "git"))
    tell_paused(screen, done.task.name, done.restored.paused)
    for note in plan.notes:
        screen.note(note, "yellow")
    for path in done.submodules:
        screen.note(f"  submodule {path} stays where it is: `git submodule update` moves it")
    if plan.conflicts:
        _conflicts(screen, plan)
        screen.note(f"resolve it in {done.workspace}, or let an agent: siding run -- AGENT ...")
        how = "`git commit` ends the merge" if plan.head.conflict else "`git add` says it is done"
        screen.note(f"{how}; `siding undo` takes everything back")


def _up_to_date(plan: SyncPlan, name: str) -> str:
    return f"task {inert(name)} has all of {inert(plan.coming.branch)} already"


def _from(plan: SyncPlan) -> str:
    if not plan.coming.commits:
        return f"{inert(plan.coming.branch)}, which was rewritten,"
    return f"{counted(plan.coming.commits, 'commit')} of {inert(plan.coming.branch)}"


def _how(plan: SyncPlan) -> str:
    from siding.syncing.sync import How

    match plan.head.how:
        case How.FAST_FORWARD:
            return "fast-forward: the task has no commits of its own"
        case How.REBASE:
            return f"rebase: {counted(plan.head.repeated, 'commit')} of the task on top"
        case _ if plan.head.conflict is not None:
            return "merge, left unfinished: the commits conflict"
        case _:
            return "merge"


def _conflicts(screen: Screen, plan: SyncPlan) -> None:
    for each in plan.conflicts:
        name = inert(each.path.decode("utf-8", "backslashreplace"))
        screen.print(f"conflict  {name}  ({each.kind})")


def _record(plan: SyncPlan) -> dict[str, Any]:
    return {
        "branch": plan.coming.branch,
        "commit": plan.coming.commit,
        "commits": plan.coming.commits,
        "dropped": [each.sha for each in plan.coming.dropped],
        "nothing_to_do": plan.nothing_to_do,
        "how": None if plan.nothing_to_do else plan.head.how.value,
        "head": plan.head.commit,
        "unfinished": plan.head.conflict is not None,
        "conflicts": [
            {"path": each.path.decode("utf-8", "backslashreplace"), "kind": each.kind}
            for each in plan.conflicts
        ],
        "notes": list(plan.notes),
    }


def _done_record(done: Synced) -> dict[str, Any]:
    from siding.faces.cli.telling.survey import survey_record

    restored = done.restored
    return {
        **_record(done.plan),
        "step": None if restored is None else restored.step.line,
        "restored": None if restored is None else survey_record(restored.survey),
    }
