"""Apply a task's change to its target branch (`siding apply`).

The order of the steps makes an apply safe to interrupt:

1. Everything is computed on a bench (`record/moving/bench.py`), outside the person's repository.
2. The new commits are stored in the repository. Nothing names them yet.
3. The intent is written to disk.
4. The branch and the person's checkout move together; uncommitted work in it stays as it is.
5. The step is recorded and the task closed.

The next command finishes, or takes back, an apply that was cut off (`record/unfinished`).
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING

from siding.applying.branch_move import (
    MoveAct,
    MovePlan,
    bench_root,
    beside_of,
    new_token,
    sources_of,
)
from siding.applying.content import Sources, bench_for
from siding.applying.git.commits import AskedPerson, RawCommit
from siding.applying.git.merging import Conflict
from siding.applying.plan import (
    ApplyPlan,
    ApplySelection,
    LeftOut,
    Mode,
    Target,
    make_plan,
    steps_text,
)
from siding.applying.rolled_back_commits import WouldPublish
from siding.ground.errors import NotFound, SidingError, UsageError
from siding.ground.git.paths import quote_path
from siding.ground.ids import Sha, step_number
from siding.ground.namedtuples import NamedTuple
from siding.record.acts.skeleton import Work, perform
from siding.record.ledger.figures import DiffFigures
from siding.record.ledger.move_details import ApplyDetail, LeftAlone, LeftCommit
from siding.record.ledger.reports import Trap
from siding.record.ledger.step import Step
from siding.record.moving.bench import Bench
from siding.record.moving.model import CheckoutPlace, Move
from siding.record.moving.move import checkout_of, refuse_busy, refuse_overlaps
from siding.record.place.named_task import require_of_board
from siding.record.place.project import Project
from siding.record.place.selection import select
from siding.record.place.task_workspace import require_workspace
from siding.record.recording.held_traps import TrapsUnseen, holds, not_seen, see, trap_reference
from siding.record.recording.line_base import no_base
from siding.record.recording.named_paths import named_paths, refuse_unknown
from siding.record.recording.recorder import Recorder
from siding.record.recording.snapshots import TaskSnapshots
from siding.record.runs.store import Runs
from siding.record.snapshots.patches import DiffStat
from siding.record.snapshots.scratch import place_for
from siding.record.snapshots.store import APPLIES
from siding.record.tasks.registry import Workspace
from siding.record.tasks.task import Task
from siding.record.traps.traps import find_traps, reader_of, trap_settings

if TYPE_CHECKING:
    from siding.applying.rehearsal import Proof
    from siding.tasks.close import Closed

__all__ = [
    "Applied",
    "ApplyPlan",
    "ApplyRequest",
    "Conflict",
    "Conflicting",
    "DiffStat",
    "LeftOut",
    "Mode",
    "RawCommit",
    "WouldPublish",
    "apply",
    "named_in",
    "planned",
    "preview",
    "target_for",
    "write_patch",
]


class Conflicting(SidingError):
    """The change conflicts with the target. Nothing was changed."""

    code = "conflict"

    def __init__(self, plan: ApplyPlan) -> None:
        self.plan = plan
        shown = ", ".join(quote_path(c.path) for c in plan.conflicts[:5])
        more = f" and {len(plan.conflicts) - 5} more" if len(plan.conflicts) > 5 else ""
        super().__init__(
            f"the task and {plan.target.branch or 'your checkout'} disagree about {shown}{more}",
            hint="nothing was changed. `siding apply --resolve` brings both sides into the "
            "workspace; resolve it there, then `siding apply --continue`",
        )


class ApplyRequest(NamedTuple):
    """The options of one ``siding apply``."""

    task: str | None = None
    mode: Mode | None = None  # None: as `commit`, or one commit where that would publish too much
    message: str | None = None
    onto: str | None = None
    steps: str | None = None
    paths: tuple[bytes, ...] = ()
    close: bool = True
    sign: bool = False
    hooks: bool = False
    co_authors: tuple[str, ...] = ()
    wait: bool = False
    only_if: str | None = None  # a command that has to hold on the result
    now: bool = False  # while runs live: the workspace as it is, not the newest recorded state
    seen: bool = False  # a person has seen the traps of the plan that was shown


class Applied(NamedTuple):
    """The result of an apply. `step` is None if there was nothing to apply."""

    task: Task
    plan: ApplyPlan
    step: Step | None
    settled: tuple[Step, ...]
    closed: "Closed | None"
    stays_open: str | None  # why the task was not closed, although `close` was asked for
    beside: tuple[str, ...] = ()  # the ids of the runs that lived when the state was taken


@contextmanager
def preview(project: Project, request: ApplyRequest) -> Iterator[tuple[Task, ApplyPlan, Bench]]:
    """Yield what an apply would do now. Takes no lock and leaves no file behind."""
    task = require_of_board(select(project, request.task), "`siding apply`")
    workspace = _workspace(project, task)
    if not request.now and Runs(project.task_layout(task.id)).live():
        from siding.record.recording.last_state import last_state

        last = last_state(project, workspace)
        place = place_for(project.snapshots, APPLIES, project.app.random_bytes(8).hex())
        with bench_for(project, project.snapshots, place) as bench:
            sources = Sources(project, task, workspace, bench, last.coverage, last)
            yield task, planned(sources, request, last.snapshot, look=True), bench
        return
    snapshots = TaskSnapshots(project, workspace)
    with snapshots.look() as seen:
        place = place_for(project.snapshots, APPLIES, project.app.random_bytes(8).hex())
        with bench_for(project, seen.store, place) as bench:
            sources = Sources(project, task, workspace, bench, seen.coverage)
            yield task, planned(sources, request, seen.tree, look=True), bench


def apply(project: Project, request: ApplyRequest) -> Applied:
    """Apply the task's change. If Conflicting, Overlapping or another error of
    `git.applying.move.UNCHANGED` is raised, nothing was changed."""
    task = require_of_board(select(project, request.task), "`siding apply`")
    proof = None if request.only_if is None else _proof(project, request, request.only_if)
    applied = perform(project, task.id, ApplyAct(request, f"applying task {task.name}", proof))
    return _close(project, applied, request)


def _proof(project: Project, request: ApplyRequest, command: str) -> "Proof":
    from siding.applying.rehearsal import prove

    with preview(project, request) as (task, plan, bench):
        require_seen(project, task, plan, seen=request.seen)
        workspace = _workspace(project, task)
        return prove(project, bench, plan, command, workspace=workspace.path)


class ApplyAct(MoveAct[Applied]):
    """Apply what a task changed to its target."""

    def __init__(self, request: ApplyRequest, what: str, proof: "Proof | None") -> None:
        self.what = what
        self.wait = request.wait
        self.pauses_runs = beside_of(now=request.now)
        self._request = request
        self._proof = proof
        self._planned: ApplyPlan | None = None

    def move_plan(self, work: Work) -> MovePlan | None:
        request, recorder = self._request, work.recorder
        root = bench_root(work.project, work.task.id)
        bench = work.resources.enter_context(bench_for(work.project, work.project.snapshots, root))
        found = planned(
            sources_of(recorder, bench), request, recorder.seen.snapshot, look=request.hooks
        )
        if found.conflicts:
            raise Conflicting(found)
        require_seen(work.project, work.task, found, seen=request.seen)
        if self._proof is not None:
            self._proof.require(found)
        if found.target.checkout is not None:
            refuse_overlaps(found.overlaps, found.target.checkout)  # before any hook runs
        self._planned = found
        return _move_plan(recorder, bench, found, request) if found.changes else None

    def moved(self, work: Work, step: Step | None) -> Applied:
        assert self._planned is not None
        return Applied(
            task=work.task,
            plan=self._planned,
            step=step,
            settled=work.settled,
            closed=None,
            stays_open=None,
            beside=tuple(run.id for run in work.recorder.runs.live()),
        )


def _move_plan(
    recorder: Recorder, bench: Bench, plan: ApplyPlan, request: ApplyRequest
) -> MovePlan:
    """Run the hooks if asked for, store the new commits in the repository, and return the move."""
    project, target = recorder.project, plan.target
    hooks: tuple[str, ...] = ()
    if request.hooks:
        from siding.applying.rehearsal import with_hooks

        plan, hooks = with_hooks(project, bench, plan)
    assert plan.new is not None
    new = plan.new
    bench.keep(new, without=(target.sha, recorder.workspace.base_commit))
    move = Move(
        branch=target.branch,
        old=target.sha if target.branch else bench.tree_of(target.sha),
        new=new,
        checkout=target.checkout,
        token=new_token(project),
    )
    detail = ApplyDetail(
        mode=plan.wanted.mode.value,
        commit_sha=new if target.branch else "",
        commit_message=plan.message,
        message=plan.message.partition("\n")[0] or plan.wanted.mode.value,
        target_branch=target.branch,
        target_before=target.sha,
        commits=tuple(commit.sha for commit in plan.commits),
        whole=plan.wanted.whole and not plan.left_out,
        head=plan.head,
        applied=DiffFigures.of(plan.stat),
        steps=request.steps or "",
        paths=tuple(quote_path(path) for path in request.paths),
        left_out=tuple(LeftAlone(quote_path(each.path), each.why) for each in plan.left_out),
        gone_back=tuple(LeftCommit(each.sha[:12], each.subject) for each in plan.gone_back),
        proven_by=request.only_if or "",
    )
    return MovePlan(move, plan.changes, detail, hooks=hooks)


def named_in(project: Project, task: str | None, names: Sequence[str]) -> tuple[bytes, ...]:
    """Return the PATH arguments of a command line as `ApplyRequest.paths`; see `named_paths`."""
    if not names:
        return ()
    return named_paths(project, _workspace(project, select(project, task)), names)


def write_patch(bench: Bench, plan: ApplyPlan, fd: int) -> None:
    """Write what the apply would change in its target, as a patch for `git apply`."""
    bench.git.run_to_fd(
        bench.place(),
        [
            "diff-tree",
            "-r",
            "-p",
            "--binary",
            "--full-index",
            "-M",
            "--no-ext-diff",
            "--no-textconv",
            bench.tree_of(plan.target.sha),
            plan.tree,
        ],
        doing="writing the patch",
        stdout=fd,
    )


def planned(sources: Sources, request: ApplyRequest, now: Sha, *, look: bool = False) -> ApplyPlan:
    """Return what an apply of the snapshot `now` would do. For `look` see `make_plan`."""
    project = sources.project
    commits = request.mode is not Mode.PATCH
    with AskedPerson(project.git, project.repository) if commits else nullcontext() as asked:
        target = target_for(project, sources.task, request)
        wanted = _wanted(sources, request, now)
        person = None if asked is None else asked.answer()
    return with_traps(sources, make_plan(sources, target, wanted, person, look=look))


def target_for(project: Project, task: Task, request: ApplyRequest) -> Target:
    """Return where the change goes; raises NotFound and CheckoutBusy."""
    repository = project.repository
    if request.mode is Mode.PATCH and request.onto is None:
        here = project.checkout
        if here is None:
            raise UsageError(
                "there is no checkout here to write the files into",
                hint="--output FILE writes a patch; --onto BRANCH with another mode makes commits",
            )
        sha = repository.head(here.git_dir).sha
        if sha is None:
            raise NotFound("the checkout here has no commit yet")
        place = CheckoutPlace(root=here.root, git_dir=here.git_dir)
        refuse_busy(repository, place)
        return Target(branch="", sha=sha, checkout=place)
    branch = request.onto or task.base_ref.removeprefix("refs/heads/")
    if branch == task.branch:
        raise UsageError(f"{branch!r} is the task's own branch", hint="--onto names another one")
    at = repository.branch(branch)
    if at is None:
        raise NotFound(
            f"there is no branch {branch!r} to apply to",
            hint="--onto BRANCH names one (`git branch` lists them)",
        )
    place_or_none = checkout_of(repository, branch)
    if request.mode is Mode.PATCH:
        if place_or_none is None:
            raise UsageError(
                f"branch {branch!r} is checked out nowhere, so there are no files to change"
            )
        return Target(branch="", sha=at, checkout=place_or_none)
    return Target(branch=branch, sha=at, checkout=place_or_none)


def _wanted(sources: Sources, request: ApplyRequest, now: Sha) -> ApplySelection:
    start: Sha | None = None
    snapshot = now
    last = sources.project.ledger(sources.task.id).last()
    numbers = [1, last.number] if last is not None else []
    if request.steps is not None:
        start, snapshot, numbers = _range(sources, request.steps)
    before = start or sources.workspace.base_snapshot
    refuse_unknown(sources.bench.store, (Sha(before), snapshot), request.paths)
    return ApplySelection(
        mode=request.mode or Mode.COMMIT,
        chosen=request.mode is not None,
        start=start,
        snapshot=snapshot,
        steps=steps_text(numbers),
        paths=request.paths,
        message=request.message,
        co_authors=request.co_authors,
        sign=request.sign,
    )


def _range(sources: Sources, text: str) -> tuple[Sha, Sha, list[int]]:
    """Return the snapshots before and after a range of steps: ``3``, ``2..5``, ``2..``, ``..5``."""
    ledger = sources.project.ledger(sources.task.id)
    first, dots, last = text.partition("..")
    newest = ledger.last()
    if newest is None:
        raise NotFound("the task has no steps yet")
    try:
        low = step_number(first) if first else 1
        high = (step_number(last) if last else newest.number) if dots else low
    except ValueError:
        raise UsageError(f"--steps {text!r} is not a range", hint="3, 2..5, 2.. or ..5") from None
    found = [ledger.find(number) for number in (low, high)]
    for number, step in zip((low, high), found, strict=True):
        if step is None or step.snapshot is None or step.parent is None:
            raise NotFound(f"there is no step {number} with a snapshot", hint="`siding log`")
    if low > high:
        raise UsageError(f"--steps {text!r} ends before it begins")
    from siding.record.recording.freed import refuse_freed

    assert found[0] is not None
    assert found[1] is not None
    before, after = Sha(str(found[0].parent)), Sha(str(found[1].snapshot))
    refuse_freed(sources.project, f"the state before step {found[0].id}", before)
    refuse_freed(sources.project, f"step {found[1].id}", after)
    return before, after, [low, high]


def _close(project: Project, applied: Applied, request: ApplyRequest) -> Applied:
    """Close the task if that was asked for, all of its change was applied and no run lives."""
    plan = applied.plan
    if not request.close or plan.unchanged:
        return applied
    from siding.record.unfinished.left_running import in_the_way
    from siding.tasks.close import Fate, close_task

    reason = None
    if not plan.wanted.whole:
        reason = "only part of it was applied"
    elif plan.left_out:
        reason = "some of it was left out"
    elif applied.beside:
        live = "lives" if len(applied.beside) == 1 else "live"
        reason = f"{', '.join(applied.beside)} {live} in it"
    elif left := in_the_way(project, applied.task.id):
        reason = f"what {', '.join(each.run.id for each in left)} left running works on in it"
    if reason is not None:
        return applied._replace(stays_open=reason)
    closed = close_task(project, applied.task, fate=Fate.USUAL, force=True)
    return applied._replace(closed=closed, task=closed.task)


def _workspace(project: Project, task: Task) -> Workspace:
    workspace = require_workspace(project, task)
    if not workspace.base_snapshot:
        raise no_base(task)
    return workspace


def with_traps(sources: Sources, plan: ApplyPlan) -> ApplyPlan:
    """Return the plan with the traps in it that nobody has seen."""
    if not plan.changes:
        return plan
    project = sources.project
    found = not_seen(project, _traps_of(sources, plan))
    return plan._replace(traps=found, holds=bool(found) and holds(project, sources.task.id))


def require_seen(project: Project, task: Task, plan: ApplyPlan, *, seen: bool) -> None:
    """Raise TrapsUnseen if the plan is held. With `seen`, record that a person has seen them."""
    if not plan.holds:
        return
    if not seen:
        raise TrapsUnseen(task, plan.traps, "nothing was applied")
    see(project, plan.traps)


def _traps_of(sources: Sources, plan: ApplyPlan) -> list[Trap]:
    """Return the traps among what the plan changes on its target.

    Their content is that of the workspace, and not what a merge or a filter makes of it: so what
    was seen in the workspace has been seen. Of what is not there, such as an ignored file that was
    committed all the same, it is what arrives.
    """
    project, store = sources.project, sources.bench.store
    table = trap_settings(project).table
    reference, state = trap_reference(project, sources.workspace, store), plan.wanted.snapshot
    same = not reference or reference == state
    changes = [] if same else sources.bench.changes_between(reference, state)
    own = {each.path for each in changes}
    arriving = {each.path: each for each in plan.changes if each.status != "D"}
    there = find_traps(table, (c for c in changes if c.path in arriving), reader_of(store))
    others = [change for path, change in arriving.items() if path not in own]
    return [*there, *find_traps(table, others, partial(_read, sources.bench))]


def _read(bench: Bench, shas: Sequence[str]) -> dict[str, bytes]:
    found = zip(shas, bench.find(shas, kind=b"blob"), strict=True)
    return {sha: body for sha, body in found if body is not None}
