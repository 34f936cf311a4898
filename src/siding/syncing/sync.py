"""Bring the moved base branch into a task's workspace, as one step (``siding sync``)."""

from collections.abc import Iterator
from contextlib import contextmanager

from siding.applying.content import Sources, bench_for
from siding.applying.steps import bench_root, sources_of
from siding.ground.git.paths import quote_path
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.record.acts.skeleton import Done, Ended, Work, perform
from siding.record.ledger.details.rollback import ConflictedPath, MergedBranch, RollbackDetail
from siding.record.ledger.draft import Draft
from siding.record.ledger.intents import Intent
from siding.record.ledger.step import Step
from siding.record.place.named_task import require_of_board
from siding.record.place.project import Project
from siding.record.place.selection import select
from siding.record.place.task_workspace import require_workspace
from siding.record.recording.line_base import no_base, note_sync
from siding.record.recording.snapshots import TaskSnapshots
from siding.record.restoring.act import Going, MovedFiles, RestoreAct, Restored, RestorePlan
from siding.record.restoring.survey import Destination, RestoreRequest, state_at, state_now
from siding.record.snapshots.git_details import details_of
from siding.record.snapshots.scratch import place_for
from siding.record.snapshots.store import APPLIES
from siding.record.tasks.task import Task
from siding.syncing.plan import CannotSync, How, SyncPlan, SyncRequest, make_plan
from siding.syncing.planned_state import write_state

__all__ = ["CannotSync", "How", "SyncPlan", "SyncRequest", "Synced", "preview", "sync"]


class Synced(NamedTuple):
    """The result of a sync. `restored` is None if the task has all of the branch already."""

    task: Task
    plan: SyncPlan
    settled: tuple[Step, ...]
    restored: Restored | None
    submodules: tuple[str, ...]
    workspace: str


def sync(project: Project, request: SyncRequest) -> Synced:
    """Bring the branch in. Raises CannotSync, CannotRebase and the errors of a rollback; then
    nothing was changed."""
    task = require_of_board(select(project, request.task), "`siding sync`")
    return perform(project, task.id, SyncAct(request, f"syncing task {task.name}"))


@contextmanager
def preview(project: Project, request: SyncRequest) -> Iterator[tuple[Task, SyncPlan]]:
    """Yield what a sync would do. Takes no lock and leaves no file behind."""
    task = require_of_board(select(project, request.task), "`siding sync`")
    workspace = require_workspace(project, task)
    snapshots = TaskSnapshots(project, workspace)
    tip = snapshots.tip()
    if not workspace.base_snapshot or tip is None:
        raise no_base(task)
    with snapshots.look() as seen:
        place = place_for(project.snapshots, APPLIES, project.app.random_bytes(8).hex())
        with bench_for(project, seen.store, place) as bench:
            sources = Sources(project, task, workspace, bench, seen.coverage)
            now = state_now(project, workspace, tip)
            details = details_of(project.snapshots, now)
            yield task, make_plan(sources, request, seen.tree, now, details)


class SyncAct(RestoreAct[Synced]):
    """Go to the state that merging or rebasing leads to."""

    def __init__(self, request: SyncRequest, what: str) -> None:
        self.what = what
        self.wait = request.wait or None
        self.pauses_runs = request.beside
        self._request = request
        self._plan: SyncPlan | None = None
        self._submodules: tuple[str, ...] = ()

    def going(self, work: Work) -> Going:
        project, recorder, store = work.project, work.recorder, work.project.snapshots
        present = recorder.seen.snapshot
        with bench_for(project, store, bench_root(project, work.task.id)) as bench:
            sources = sources_of(recorder, bench)
            now = state_at(project, recorder.workspace, present)
            details = details_of(store, now)
            plan = self._plan = make_plan(sources, self._request, present, now, details)
            if plan.nothing_to_do:
                return _stay(present)
            there = write_state(sources, plan, present, details)
        self._submodules = tuple(quote_path(path) for path in there.submodules)
        return Going(
            Destination(there.snapshot, f"the state with {plan.coming.branch}", None),
            RestoreRequest(force=self._request.force),
            _detail(plan, there.base),
        )

    def draft(self, work: Work, plan: RestorePlan) -> Draft | None:
        assert self._plan is not None
        return None if self._plan.nothing_to_do else super().draft(work, plan)

    def carry_out(self, work: Work, plan: RestorePlan, intent: Intent) -> Ended[MovedFiles]:
        note_sync(work.project, work.recorder.workspace)
        return super().carry_out(work, plan, intent)

    def result(self, work: Work, plan: RestorePlan, done: Done[MovedFiles] | None) -> Synced:
        return self._synced(work, None) if done is None else super().result(work, plan, done)

    def restored(self, work: Work, restored: Restored) -> Synced:
        return self._synced(work, restored)

    def _synced(self, work: Work, restored: Restored | None) -> Synced:
        assert self._plan is not None
        return Synced(
            task=work.task,
            plan=self._plan,
            settled=work.settled,
            restored=restored,
            submodules=self._submodules,
            workspace=str(work.recorder.root),
        )


def _stay(present: Sha) -> Going:
    """Return the way to where one is already."""
    here = Destination(present, "the present state", None)
    return Going(here, RestoreRequest(files_only=True), RollbackDetail(), even_incomplete=True)


def _detail(plan: SyncPlan, base: Sha) -> RollbackDetail:
    conflicts = tuple(ConflictedPath(quote_path(each.path), each.kind) for each in plan.conflicts)
    merged = MergedBranch(
        branch=plan.coming.branch,
        commit=plan.coming.commit,
        conflicts=conflicts,
        how=plan.head.how.value,
        base=base,
    )
    return RollbackDetail(target="merge", message=plan.message, merged=merged)
