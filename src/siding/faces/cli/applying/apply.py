"""Switch a task's change onto the main line, beside your own uncommitted work.

The change is merged with the branch as it is now; --dry-run shows what that comes to. Your index,
your stash and your uncommitted files are not touched: where they and the change overlap, nothing
happens and the paths are listed. A conflict leaves both sides as they were.

  siding apply                      the agent's commits, and one for what it left uncommitted
  siding apply --mode squash -m 'Fix the parser'
  siding apply --mode patch         the files only, uncommitted, into the checkout here
  siding apply --if 'pytest -q'     only if the command holds on a checkout of the result
  siding apply --resolve            bring a conflict into the workspace, to be resolved there
  siding apply --continue           apply what was resolved; --abort puts the workspace back
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from siding.faces.cli.formats import print_json
from siding.faces.cli.globals import Context
from siding.faces.cli.screen.screen import Screen, inert
from siding.faces.cli.screen.words import changes, task_name, task_step
from siding.ground.errors import UsageError, counted

if TYPE_CHECKING:
    from siding.applying.apply import Applied, ApplyPlan, ApplyRequest, RawCommit
    from siding.record.place.project import Project


MODES = ("commit", "merge", "squash", "rebase", "patch")
_NAMED = 20


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("-t", "--task", metavar="TASK", help="the task (default: this terminal's)")
    parser.add_argument(
        "--mode",
        choices=MODES,
        help="how it becomes part of the branch (default: commit; after a rollback of "
        "commits, squash)",
    )
    parser.add_argument("-m", "--message", help="the message of the commit that is made")
    parser.add_argument(
        "--onto", metavar="BRANCH", help="the branch (default: the one the task started from)"
    )
    parser.add_argument("--steps", metavar="A..B", help="only what these steps changed")
    parser.add_argument("--paths", nargs="+", default=[], metavar="PATH", help="only these paths")
    parser.add_argument("--pick", action="store_true", help="choose the files from a list")
    parser.add_argument(
        "--if",
        dest="only_if",
        metavar="COMMAND",
        help="run it in a checkout of the result first; apply only if it ends with 0",
    )
    parser.add_argument("--sign", action="store_true", help="sign the commits with your key")
    parser.add_argument("--hooks", action="store_true", help="run your commit hooks")
    parser.add_argument(
        "--co-author",
        action="append",
        default=[],
        metavar="WHO",
        help="add a Co-authored-by line: 'Name <mail>' (repeatable)",
    )
    parser.add_argument("--no-close", action="store_true", help="leave the task open")
    parser.add_argument(
        "--now", action="store_true", help="while runs live: the workspace as it is now"
    )
    parser.add_argument("--wait", action="store_true", help="wait while the task is busy")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="with --mode patch: write a patch (- for standard output), change nothing",
    )
    act = parser.add_mutually_exclusive_group()
    act.add_argument("-n", "--dry-run", action="store_true", help="only say what would be done")
    act.add_argument("--resolve", action="store_true", help="bring a conflict into the workspace")
    act.add_argument(
        "--continue", dest="proceed", action="store_true", help="apply what was resolved"
    )
    act.add_argument("--abort", action="store_true", help="give a resolution up")
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def run(arguments: Namespace, context: Context) -> int:
    from siding.faces.cli.telling.step_words import kept_words
    from siding.record.place.project import require_project
    from siding.record.place.selection import select

    project = require_project(context.app)
    request = _request(project, arguments)
    screen = context.screen
    if arguments.abort:
        from siding.applying.resolve import abort

        task = select(project, arguments.task)
        step = abort(project, task.id)
        screen.note(f"{task_step(task.name, step.id)} · the workspace is as before the merge")
        for sentence in kept_words(project.layout.root, step):
            screen.warn(sentence)
        return 0
    if arguments.output is not None:
        return _write_patch(project, screen, request, arguments.output)
    if arguments.pick:
        request = request._replace(paths=_picked(project, screen, request))
    if arguments.dry_run:
        return _preview(project, screen, request, as_json=arguments.json)
    if arguments.resolve:
        return _resolve(project, screen, request)
    applied = _apply(project, screen, request, proceed=arguments.proceed)
    if arguments.json:
        print_json(screen, _applied_record(applied))
    _say_applied(screen, applied)
    for sentence in kept_words(project.layout.root, applied.step):
        screen.warn(sentence)
    return 0


def _request(project: Project, arguments: Namespace) -> ApplyRequest:
    from siding.applying.apply import ApplyRequest, Mode, named_in

    mode = None if arguments.mode is None else Mode(arguments.mode)
    if arguments.output is not None and mode is not Mode.PATCH:
        raise UsageError("--output writes a patch", hint="add --mode patch")
    if mode is Mode.PATCH and (arguments.sign or arguments.hooks or arguments.message):
        raise UsageError("--mode patch makes no commit, so there is nothing to sign or describe")
    applies = not (arguments.dry_run or arguments.resolve or arguments.abort or arguments.output)
    if arguments.only_if is not None and not applies:
        raise UsageError("--if goes with an apply", hint="leave it out, or the other option")
    return ApplyRequest(
        task=arguments.task,
        mode=mode,
        message=arguments.message,
        onto=arguments.onto,
        steps=arguments.steps,
        paths=named_in(project, arguments.task, arguments.paths),
        close=not arguments.no_close,
        sign=arguments.sign,
        hooks=arguments.hooks,
        co_authors=tuple(arguments.co_author),
        wait=arguments.wait,
        only_if=arguments.only_if,
        now=arguments.now,
    )


def _apply(project: Project, screen: Screen, request: ApplyRequest, *, proceed: bool) -> Applied:
    from siding.applying.apply import Conflicting, apply
    from siding.record.recording.held_traps import TrapsUnseen, see

    try:
        if proceed:
            from siding.applying.resolve import continued

            return continued(project, request)
        return apply(project, request)
    except Conflicting as conflict:
        _say_conflicts(screen, conflict.plan)
        raise
    except TrapsUnseen as held:
        from siding.faces.cli.screen.questions import can_ask
        from siding.faces.cli.telling.questions import ask_about_traps

        if not (can_ask() and ask_about_traps(screen, held.traps, "apply them?")):
            raise
        see(project, held.traps)
    return _apply(project, screen, request, proceed=proceed)  # what changed meanwhile is asked


def _preview(project: Project, screen: Screen, request: ApplyRequest, *, as_json: bool) -> int:
    from siding.applying.apply import preview

    with preview(project, request) as (task, plan, _bench):
        if as_json:
            print_json(screen, _plan_record(plan))
        else:
            _show_plan(screen, task.name, plan)
        return 1 if plan.conflicts or plan.overlaps.all else 0


def _write_patch(project: Project, screen: Screen, request: ApplyRequest, file: str) -> int:
    from siding.applying.apply import Conflicting, preview, write_patch
    from siding.record.recording.held_traps import TrapsUnseen

    with preview(project, request) as (task, plan, bench):
        if plan.conflicts:
            raise Conflicting(plan)
        if plan.holds:
            raise TrapsUnseen(task, plan.traps, "no patch was written")
        if file == "-":
            sys.stdout.flush()
            write_patch(bench, plan, sys.stdout.fileno())
            return 0
        with open(file, "wb") as target:
            write_patch(bench, plan, target.fileno())
    screen.note(f"written to {file}")
    return 0


def _picked(project: Project, screen: Screen, request: ApplyRequest) -> tuple[bytes, ...]:
    from siding.applying.apply import preview
    from siding.faces.cli.screen.questions import pick_paths

    with preview(project, request) as (_task, plan, _bench):
        return pick_paths(screen, plan.stat)


def _resolve(project: Project, screen: Screen, request: ApplyRequest) -> int:
    from siding.applying.resolve import resolve
    from siding.faces.cli.telling.step_words import kept_words
    from siding.record.place.selection import select

    task = select(project, request.task)
    resolution = resolve(project, request._replace(task=task.id))
    screen.note(
        f"{task_step(task.name, resolution.step.id)} · {resolution.branch} merged into the "
        f"workspace, {counted(len(resolution.conflicts), 'path')} in conflict"
    )
    for conflict in resolution.conflicts:
        screen.print(f"conflict  {inert(conflict.name)}  ({conflict.kind})")
    screen.note(f"resolve it in {resolution.workspace}, or let an agent: siding run -- AGENT ...")
    screen.note("then `siding apply --continue`; `siding apply --abort` puts the workspace back")
    for sentence in kept_words(project.layout.root, resolution.step):
        screen.warn(sentence)
    return 0


def _nothing(plan: ApplyPlan) -> str:
    if plan.left_out:
        return "nothing to apply: what the task changed cannot go along"
    where = " below these paths" if plan.wanted.paths else ""
    since = " since it was applied" if plan.again else ""
    return f"nothing to apply: the task changed nothing{where}{since}"


def _show_plan(screen: Screen, task: str, plan: ApplyPlan) -> None:
    from siding.faces.cli.telling.step_words import listed
    from siding.record.recording.held_traps import ways_to_see

    where = _where(plan)
    if plan.nothing_to_do:
        screen.print(_nothing(plan) if plan.unchanged else f"{where} has all of it already")
        _print_left_out(screen, plan)
        return
    screen.print(f"onto      {where}")
    screen.print(f"mode      {plan.wanted.mode.value}")
    for commit in plan.commits:
        screen.print(f"commit    {inert(commit.subject)}")
    stat = plan.stat
    screen.print(f"changes   {changes(stat.files, stat.additions, stat.deletions)}")
    for each in stat.per_file[:_NAMED]:
        screen.print(f"          {each.status}  {_name(each.path)}")
    if len(stat.per_file) > _NAMED:
        screen.print(f"          and {len(stat.per_file) - _NAMED} more")
    for path in plan.overlaps.changed:
        screen.print(f"overlap   {_name(path)}  (you have changed it)")
    for path in plan.overlaps.unknown:
        screen.print(f"overlap   {_name(path)}  (a file of yours that git does not track)")
    _say_conflicts(screen, plan)
    for trap in listed(plan.traps):
        screen.print(f"trap      {inert(trap)}")
    _print_left_out(screen, plan)
    if plan.holds:
        screen.note(f"not seen yet: {ways_to_see(task)}", "yellow")
    for note in plan.notes:
        screen.note(note, "yellow")


def _print_left_out(screen: Screen, plan: ApplyPlan) -> None:
    for gone in plan.gone_back:
        screen.print(f"left out  {_gone_back(gone)}")
    for left in plan.left_out:
        screen.print(f"left out  {_name(left.path)}  ({left.why})")


def _say_conflicts(screen: Screen, plan: ApplyPlan) -> None:
    for conflict in plan.conflicts:
        screen.print(f"conflict  {_name(conflict.path)}  ({conflict.kind})")


def _say_applied(screen: Screen, applied: Applied) -> None:
    from siding.faces.cli.telling.step_words import listed

    plan, step = applied.plan, applied.step
    where = _where(plan)
    if step is None:
        why = _nothing(plan) if plan.unchanged else f"{where} has all of it already"
        screen.note(f"{task_name(applied.task.name)} · {why}")
    else:
        made = f"{counted(len(plan.commits), 'commit')} on {where}"
        screen.note(
            f"{task_step(applied.task.name, step.id)} · "
            f"{made if plan.target.branch else f'written into {where}, uncommitted'} · "
            f"{changes(plan.stat.files, plan.stat.additions, plan.stat.deletions)}",
            "green",
        )
        for commit in plan.commits[-_NAMED:] if plan.target.branch else ():
            screen.note(f"  {commit.sha[:12]} {inert(commit.subject)}")
    if plan.traps and step is not None and not plan.holds:
        screen.note(f"run later by others: {'; '.join(map(inert, listed(plan.traps)))}")
    for gone in plan.gone_back:
        screen.note(f"left out: {_gone_back(gone)}", "yellow")
    for left in plan.left_out:
        screen.warn(f"left out: {_name(left.path)} ({left.why})")
    for note in plan.notes:
        screen.note(note, "yellow")
    if applied.closed is not None:
        screen.note(f"closed task {applied.task.id} · {applied.task.name}")
        if applied.closed.branch is not None:
            screen.note(f"  {applied.closed.branch.sentence}")
    elif applied.stays_open is not None:
        screen.note(f"the task stays open: {applied.stays_open}")


def _where(plan: ApplyPlan) -> str:
    place = plan.target.checkout
    if not plan.target.branch:
        return str(place.root) if place is not None else "the checkout"
    return plan.target.branch + (f" (checked out at {place.root})" if place else "")


def _gone_back(commit: RawCommit) -> str:
    return f"commit {commit.sha[:10]} {inert(commit.subject)} (gone back from)"


def _name(path: bytes) -> str:
    return inert(path.decode("utf-8", "backslashreplace"))


def _plan_record(plan: ApplyPlan) -> dict[str, object]:
    return {
        "target_branch": plan.target.branch,
        "target_commit": plan.target.sha,
        "checkout": str(plan.target.checkout.root) if plan.target.checkout else None,
        "mode": plan.wanted.mode.value,
        "nothing_to_do": plan.nothing_to_do,
        "files": [{"status": each.status, "path": _name(each.path)} for each in plan.stat.per_file],
        "commits": [commit.subject for commit in plan.commits],
        "conflicts": [{"path": _name(c.path), "kind": c.kind} for c in plan.conflicts],
        "overlaps": [_name(path) for path in plan.overlaps.all],
        "left_out": [{"path": _name(o.path), "why": o.why} for o in plan.left_out],
        "gone_back": [
            {"commit": each.sha[:12], "subject": inert(each.subject)} for each in plan.gone_back
        ],
        "traps": [each._asdict() for each in plan.traps],
        "held": plan.holds,
        "notes": list(plan.notes),
    }


def _applied_record(applied: Applied) -> dict[str, object]:
    step = applied.step
    branch = applied.closed.branch if applied.closed is not None else None
    return {
        **_plan_record(applied.plan),
        "step": None if step is None else step.line,
        "closed": applied.closed is not None,
        "branch": None if branch is None else branch.record(),
    }
