"""Bring the moved base branch into a task's workspace, as one step (``siding sync``).

The state that it leads to is written as a snapshot, so that it is gone to like any other one.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from siding.applying.branch_move import bench_root, sources_of
from siding.applying.content import Sources, bench_for
from siding.applying.git.conversion import smudged
from siding.ground.git import objects
from siding.ground.git.paths import quote_path
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.record.acts.skeleton import Done, Ended, Work, perform
from siding.record.ledger.draft import Draft
from siding.record.ledger.intents import Intent
from siding.record.ledger.move_details import ConflictedPath, MergedBranch, RollbackDetail
from siding.record.ledger.step import Step
from siding.record.moving.bench import Bench
from siding.record.moving.move import changed_paths
from siding.record.moving.sparse import left_out
from siding.record.place.named_task import require_of_board
from siding.record.place.project import Project
from siding.record.place.selection import select
from siding.record.place.task_workspace import require_workspace
from siding.record.recording.line_base import no_base, note_sync
from siding.record.recording.snapshots import TaskSnapshots
from siding.record.restoring.act import Going, MovedFiles, RestoreAct, Restored, RestorePlan
from siding.record.restoring.survey import Destination, RestoreRequest, state_at, state_now
from siding.record.snapshots.git_details import GitDetails, details_of
from siding.record.snapshots.git_state import GitState
from siding.record.snapshots.mode_changes import parse
from siding.record.snapshots.modes import EXECUTABLE, named_in
from siding.record.snapshots.patches import Change
from siding.record.snapshots.scratch import place_for
from siding.record.snapshots.store import APPLIES
from siding.record.tasks.task import Task
from siding.syncing.plan import CannotSync, How, SyncPlan, SyncRequest, make_plan

__all__ = ["CannotSync", "How", "SyncPlan", "SyncRequest", "Synced", "preview", "sync"]
_GITLINK = "160000"


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


class PlannedState(NamedTuple):
    """The snapshot to go to, and the one that the task's change is counted from since then.

    `submodules` are paths whose commit the branch has changed: that of the workspace stays.
    """

    snapshot: Sha
    base: Sha
    submodules: tuple[bytes, ...]


def write_state(
    sources: Sources, plan: SyncPlan, present: Sha, details: GitDetails
) -> PlannedState:
    """Store the state in the task's snapshots. `present` is the newest snapshot of the workspace
    and `details` its details."""
    bench, workspace = sources.bench, sources.workspace
    assert plan.now.head is not None
    base = _base(sources, plan)
    tree, submodules, changes = _on_disk(
        sources, bench.tree_of(present), plan.side, plan.files, is_workspace=True
    )
    stored = _details(bench, plan, details)
    state = _state(plan, workspace.branch, stored)
    modes = _modes(sources, present, changes)
    parents = [present, base, state.head, stored, modes]
    message = f"sync\n\nTask: {sources.task.id}\nKind: sync\nHead: {state.head}"
    message += state.trailers() + (f"\nModes: {modes}" if modes else "")
    snapshot = _commit(sources, tree, tuple(each for each in parents if each), message)
    without = (present, workspace.base_commit, plan.now.head, plan.coming.commit)
    bench.keep(snapshot, without=without, into=bench.store.objects)
    return PlannedState(snapshot, base, submodules)


def _base(sources: Sources, plan: SyncPlan) -> Sha:
    """Write what the task would have begun with on the branch as it is now."""
    bench, workspace = sources.bench, sources.workspace
    target = bench.tree_of(plan.coming.commit)
    first = Sha(workspace.base_snapshot)
    tree, _, _ = _on_disk(sources, bench.tree_of(first), sources.base_tree, target)
    modes = named_in(bench.store.read_commit(first))
    message = f"base of a sync\n\nTask: {sources.task.id}" + (f"\nModes: {modes}" if modes else "")
    return _commit(sources, tree, tuple(each for each in (first, modes) if each), message)


def _on_disk(
    sources: Sources, snapshot: Sha, before: Sha, after: Sha, *, is_workspace: bool = False
) -> tuple[Sha, tuple[bytes, ...], list[Change]]:
    """Return the tree `snapshot` with what differs between two committed trees, as a checkout
    writes it; the submodules among that; and the changed files.

    What the sparse checkout of the workspace leaves out stays out of the tree of the workspace.
    """
    bench = sources.bench
    changes = changed_paths(bench.repository, bench.place(), before, after)
    links = tuple(c.path for c in changes if _GITLINK in (c.old_mode, c.new_mode))
    files = [c for c in changes if c.path not in links]
    if is_workspace and sources.workspace.git_dir:
        common = bench.repository.paths.common_dir
        where = bench.place(git_dir=Path(sources.workspace.git_dir), common_dir=common)
        absent = left_out(bench.repository, where, files, bench.root)
        files = [c for c in files if c.path not in absent]
    return bench.edit_tree(snapshot, smudged(bench, sources.user, after, files)), links, files


def _modes(sources: Sources, present: Sha, changes: list[Change]) -> Sha | None:
    """Return the commit with the permissions: those of now, executable as the branch has it."""
    bench = sources.bench
    stored = named_in(bench.store.read_commit(present))
    modes = None if stored is None else parse(bench.store.read_commit(stored).message)
    if modes is None:
        return None
    files = dict(modes.files)
    for each in changes:
        if each.path in files and each.new_mode.startswith("100"):
            files[each.path] = _as_executable(files[each.path], each.new_mode == EXECUTABLE)
    if files == modes.files:
        return stored
    text = modes._replace(files=files).text()
    return _commit(sources, bench.tree_of(present), (), text)


def _as_executable(mode: int, executable: bool) -> int:
    """Return the mode with x for whoever may read it, or without."""
    return mode | (mode & 0o444) >> 2 if executable else mode & ~0o111


def _details(bench: Bench, plan: SyncPlan, present: GitDetails) -> Sha | None:
    """Write how the index will differ from HEAD, and git's small files; None if it is all plain."""
    files = dict(present.files) | {n: bench.put("blob", data) for n, data in plan.left.items()}
    details = GitDetails(plan.entries, files, present.documents)
    if details.is_plain:
        return None
    kept = (plan.coming.commit,) if plan.left else ()
    tree = bench.put("tree", details.tree_body())
    commit = objects.Commit(tree=tree, parents=kept, message=details.text())
    return bench.put("commit", objects.commit_body(commit, at=0))


def _state(plan: SyncPlan, task_branch: str, details: Sha | None) -> GitState:
    head = plan.head.commit
    tip = head if plan.now.branch == task_branch else plan.now.tip
    return GitState(head=head, branch=plan.now.branch, tip=tip, details=details)


def _commit(sources: Sources, tree: Sha, parents: tuple[Sha, ...], message: str) -> Sha:
    at = int(sources.project.app.clock.now().timestamp())
    commit = objects.Commit(tree=tree, parents=parents, message=message)
    return sources.bench.put("commit", objects.commit_body(commit, at=at))
