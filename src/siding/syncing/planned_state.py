"""Write the state that a sync leads to as a snapshot, so that it is gone to like any other one."""

from pathlib import Path

from siding.applying.content import Sources
from siding.applying.git.conversion import smudged
from siding.ground.git import objects
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.record.moving.bench import Bench
from siding.record.moving.move import changed_paths
from siding.record.moving.sparse import left_out
from siding.record.snapshots.git_details import GitDetails
from siding.record.snapshots.git_state import GitState
from siding.record.snapshots.mode_changes import parse
from siding.record.snapshots.modes import EXECUTABLE, named_in
from siding.record.snapshots.patches import Change
from siding.syncing.plan import SyncPlan

_GITLINK = "160000"


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
