"""Bring a conflict into the workspace, where a person or an agent resolves it or gives it up.

The merge of both sides, with conflict markers, becomes the workspace's state. That is a step, so it
can be undone. From then on the task's change is relative to the target's commit that was merged.
The target and the person's checkout are not changed.
"""

from siding.applying.apply import Applied, ApplyRequest, Mode, apply, planned, target_for
from siding.applying.branch_move import bench_root, sources_of
from siding.applying.content import Sources, bench_for
from siding.applying.git.conversion import smudged
from siding.applying.history import newest_merge
from siding.applying.markers import with_named_sides
from siding.applying.plan import ApplyPlan
from siding.ground.errors import SidingError, UsageError
from siding.ground.git import objects
from siding.ground.git.paths import quote_path
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.record.acts.skeleton import Work, perform
from siding.record.ledger.move_details import ConflictedPath, MergedBranch, RollbackDetail
from siding.record.ledger.present_line import present_line
from siding.record.ledger.step import Step
from siding.record.moving.move import changed_paths
from siding.record.place.named_task import require_of_board
from siding.record.place.project import Project
from siding.record.place.selection import select
from siding.record.restoring.act import Going, RestoreAct, Restored, rollback_to
from siding.record.restoring.survey import Destination, RestoreRequest


class NothingToResolve(SidingError):
    """The task and the target do not conflict, so there is nothing to resolve."""

    code = "no_conflict"


class Resolution(NamedTuple):
    """A merge that was brought into the workspace, with its conflicts."""

    step: Step
    branch: str
    conflicts: tuple[ConflictedPath, ...]
    workspace: str


def resolve(project: Project, request: ApplyRequest) -> Resolution:
    """Bring the conflicting merge into the workspace as a step. Raises NothingToResolve."""
    if request.steps or request.paths or request.mode is Mode.PATCH:
        raise UsageError("--resolve brings the whole target into the workspace")
    task = require_of_board(select(project, request.task), "`siding apply`")
    return perform(project, task.id, MergeAct(request, f"applying task {task.name}"))


class MergeAct(RestoreAct[Resolution]):
    """Bring the merge of the target, markers included, into the workspace."""

    def __init__(self, request: ApplyRequest, what: str) -> None:
        self.what = what
        self._request = request._replace(mode=Mode.SQUASH)

    def going(self, work: Work) -> Going:
        project, recorder = work.project, work.recorder
        root = bench_root(project, work.task.id)
        with bench_for(project, project.snapshots, root) as bench:
            sources = sources_of(recorder, bench)
            plan = planned(sources, self._request, recorder.seen.snapshot)
            if not plan.merged.conflicts:
                raise NothingToResolve(
                    "the task and the target do not disagree",
                    hint="`siding apply` applies it; with --mode rebase, single commits may "
                    "conflict where the whole does not: --mode commit or squash",
                )
            snapshot = _as_snapshot(sources, plan, recorder.seen.tree)
        branch = plan.target.branch
        conflicts = tuple(
            ConflictedPath(name=quote_path(c.path), kind=c.kind) for c in plan.conflicts
        )
        return Going(
            Destination(snapshot=snapshot, name=f"the merge with {branch}", coverage=None),
            RestoreRequest(files_only=True),
            RollbackDetail(
                target="merge",
                message=f"{branch} merged into the workspace, to be resolved",
                merged=MergedBranch(branch=branch, commit=plan.target.sha, conflicts=conflicts),
            ),
        )

    def restored(self, work: Work, restored: Restored) -> Resolution:
        merged = restored.step.merged
        assert merged is not None
        return Resolution(
            step=restored.step,
            branch=merged.branch,
            conflicts=merged.conflicts,
            workspace=str(work.recorder.root),
        )


def continued(project: Project, request: ApplyRequest) -> Applied:
    """Apply the resolved change. Raises UsageError if no merge is being resolved in the task."""
    task = require_of_board(select(project, request.task), "`siding apply`")
    target = target_for(project, task, request)
    if newest_merge(project, task.id, target.branch) is None:
        raise UsageError(
            f"no merge of {target.branch or 'the checkout'} is being resolved in this task",
            hint="`siding apply --resolve` begins one",
        )
    return apply(project, request)


def abort(project: Project, named: str | None) -> Step:
    """Restore the workspace to the state before the merge, as a step."""
    task = select(project, named)
    return perform(project, task.id, GiveUpMerge(f"applying task {task.name}"))


class GiveUpMerge(RestoreAct[Step]):
    """Restore the workspace to the state before the newest merge."""

    def __init__(self, what: str) -> None:
        self.what = what

    def going(self, work: Work) -> Going:
        merge = newest_merge(work.project, work.task.id, None)
        if merge is None or merge.parent is None:
            raise UsageError("no merge is being resolved in this task")
        before = present_line(work.recorder.ledger.steps()).on(merge.number)
        name = f"step {before:04d}" if before else "the base"
        return Going(
            Destination(snapshot=Sha(merge.parent), name=name, coverage=None),
            RestoreRequest(files_only=not merge.took_all_parts),
            rollback_to("the merge was given up", step=before or None),
        )

    def restored(self, work: Work, restored: Restored) -> Step:
        return restored.step


def _as_snapshot(sources: Sources, plan: ApplyPlan, present: Sha) -> Sha:
    """Store the merge as a snapshot and return it.

    It is the present tree with the merged files as a checkout writes them (line endings, filters).
    """
    bench = sources.bench
    named = (plan.target.branch, f"task {sources.task.name}")
    tree = with_named_sides(bench, plan.merged, *named).tree
    changes = changed_paths(bench.repository, bench.place(), plan.side, tree)
    entries = smudged(bench, sources.user, tree, changes)
    merged = bench.edit_tree(present, entries)
    tip = bench.store.tip(sources.task.id)
    body = objects.commit_body(
        objects.Commit(
            tree=merged, parents=(tip,) if tip else (), message=f"merge of {plan.target.branch}"
        ),
        at=int(sources.project.app.clock.now().timestamp()),
    )
    snapshot = bench.put("commit", body)
    without = (tip, sources.workspace.base_commit) if tip else (sources.workspace.base_commit,)
    bench.keep(snapshot, without=without, into=bench.store.objects)
    return snapshot
