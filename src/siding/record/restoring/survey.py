"""Work out exactly what restoring a workspace would change. Nothing is changed here.

A file that is in no snapshot is never deleted. It stays, or is moved into the project's trash if
the person asked for that.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from siding.ground.errors import counted
from siding.ground.git.command import Place
from siding.ground.git.paths import GITLINK, NOTHING, is_selected, is_under, quote_path
from siding.ground.git.roots import WorktreeRoot
from siding.ground.ids import Sha, TaskId
from siding.ground.namedtuples import NamedTuple
from siding.record.files.index_entries import ignored_now, ignored_there
from siding.record.files.obstacles import Stuck, immovable, obstacles, of_others
from siding.record.files.plan import (
    LeftPath,
    Restoration,
    Why,
    leaving,
    plan_restoration,
    with_directories,
)
from siding.record.moving.model import CheckoutPlace
from siding.record.place.project import Project
from siding.record.recording.freed import refuse_freed
from siding.record.recording.snapshots import TaskSnapshots
from siding.record.restoring.refusal import Reason, Refusal
from siding.record.snapshots.coverage import Coverage
from siding.record.snapshots.git_state import GitState, head_now, recorded_state, state_in
from siding.record.snapshots.mode_changes import TreeState, mode_changes, modes_of
from siding.record.snapshots.modes import Modes
from siding.record.snapshots.patches import Change, diff_trees
from siding.record.snapshots.scratch import place_for
from siding.record.snapshots.store import PEEKS, SnapshotStore
from siding.record.tasks.registry import Workspace

if TYPE_CHECKING:
    from siding.record.restoring.git_plan import GitRestoration

__all__ = [
    "Destination",
    "Here",
    "RestoreRequest",
    "Survey",
    "quote_path",
    "refuse",
    "refuse_changing",
    "survey",
]

NAMED = 5  # paths named in a message; lists show the others
ASIDE = "aside"  # the directory in a place in the trash that holds what was moved out of the way


class Destination(NamedTuple):
    """The state to restore and its name in messages. `coverage` is its snapshot's report, if
    any."""

    snapshot: Sha
    name: str
    coverage: Coverage | None


class RestoreRequest(NamedTuple):
    """The options of a restoration."""

    paths: tuple[bytes, ...] = ()  # below the workspace's root; empty: everything
    hard: bool = False  # ignored files go into the trash
    force: bool = False  # incomplete snapshots are used, obstacles go into the trash
    bring_back: tuple[str, ...] = ()  # places in the trash whose files return
    files_only: bool = False  # HEAD, the branch, the index and the phases stay as they are

    @property
    def takes_all(self) -> bool:
        """Whether all parts of the state are restored, and not only files."""
        return not (self.files_only or self.paths)


class Survey(NamedTuple):
    """What a restoration would do: planned changes, obstacles, and what the snapshot lacks."""

    destination: Destination
    request: RestoreRequest
    plan: Restoration
    aside: tuple[bytes, ...]  # ignored files and directories that go into the trash
    blocked: tuple[bytes, ...]  # paths that are in the way and in no snapshot
    lacks: str  # what the snapshot is incomplete in; "" if it is whole
    stuck: tuple[Stuck, ...] = ()  # what has to be moved and cannot be
    git: "GitRestoration | None" = None  # of HEAD, the branch, the index and the phases
    differ: Sequence[Change] = ()  # how the trees of the two states differ
    off: tuple[Change, ...] = ()  # what a sparse checkout keeps off the disk in that state

    @property
    def concerns(self) -> tuple[str, ...]:
        """The reasons to ask a person first, a sentence each."""
        said = Reason.INCOMPLETE.words(state=self.destination.name, lacks=self.lacks)
        return (said,) if self.lacks else ()

    @property
    def git_lines(self) -> list[tuple[str, str]]:
        """Lines that say what changes besides files, each with a word for its part."""
        if self.git is None:
            return []
        from siding.record.restoring.git_plan import git_lines

        return list(git_lines(self.git))

    @property
    def nothing_to_do(self) -> bool:
        plan = self.plan
        files = plan.writes or plan.deletes or plan.chmods or plan.made or plan.removed
        return not (files or self.aside or self.git)


class Here(NamedTuple):
    """The present state of the workspace: a tree that `store` can read, and what it lacks."""

    store: SnapshotStore
    root: WorktreeRoot
    tree: Sha
    coverage: Coverage
    modes: Modes | None


def survey(
    project: Project, task_id: TaskId, here: Here, destination: Destination, request: RestoreRequest
) -> Survey:
    """Return what restoring the destination would do. Changes nothing.

    Raises SnapshotFreed if its snapshot was freed.
    """
    store = here.store
    refuse_freed(project, destination.name, destination.snapshot)
    changes: Sequence[Change] = diff_trees(store, here.tree, destination.snapshot)
    ignored: set[bytes] = set()
    # With --hard a file that is recorded now and ignored there is deleted: the snapshot holds it.
    if not request.hard:
        own = place_for(store, PEEKS, project.app.random_bytes(8).hex())
        ignored = ignored_there(store, task_id, here.root, destination.snapshot, changes, place=own)
    if request.bring_back:  # files that come back from the trash replace what is there
        from siding.record.files.aside import listed

        for place in request.bring_back:
            ignored -= set(listed(project.layout.root / place / ASIDE))
    there = destination.coverage or Coverage()
    modes = modes_of(store, destination.snapshot)
    now, then = (None if each is None else each.bare for each in (here.modes, modes))
    if then is not None:
        lacks = (skipped.path for skipped in there.skipped)
        then = then.with_unknown([*lacks, *there.ignored, *there.special])
    differ = changes
    off: tuple[Change, ...] = ()
    if request.takes_all:  # else the index stays, which says what is kept off
        off = kept_off(project, store, task_id, changes, destination.snapshot)
        changes = without_kept_off(changes, off)
    plan = plan_restoration(
        changes,
        unknown={skipped.path for skipped in (*here.coverage.skipped, *there.skipped)},
        ignored=ignored,
        paths=request.paths,
        directories=there.empty_dirs if then is None else then.empty,
        mode_changes=mode_changes(
            store,
            TreeState(tree=here.tree, modes=here.modes),
            TreeState(tree=destination.snapshot, modes=modes),
            changes=differ,
            empty_before=here.coverage.empty_dirs if now is None else now.empty,
            empty_after=there.empty_dirs if then is None else then.empty,
        ),
        modes=modes,
    )
    linked = here.modes.links if here.modes else None
    if linked or (modes is not None and modes.links):
        from siding.record.files.links import with_links

        plan = with_links(store, plan, linked or (), destination.snapshot, request.paths)
    plan = with_directories(here.root, plan, changes, now, then, request.paths)
    if plan.removed:
        from siding.ground.process.procfs import worked_in

        plan = leaving(plan, worked_in(here.root.path, plan.removed))
    plan = _without_others(here.root, plan)
    aside: list[bytes] = []
    if request.hard:
        written = {change.path for change in plan.writes}
        found = ignored_now(store, task_id, here.root)
        aside = [p for p in _limited(found, request.paths) if p not in written]
    blocked = obstacles(here.root, plan, store.repository.object_format, leaving=aside)
    return Survey(
        destination=destination,
        request=request,
        plan=plan,
        aside=tuple(aside),
        blocked=tuple(blocked),
        lacks=_lacks(destination.coverage),
        stuck=tuple(immovable(here.root, plan)),
        differ=differ,
        off=off,
    )


def _without_others(root: WorktreeRoot, plan: Restoration) -> Restoration:
    """Take files of other users out of the permission changes: only their owners may chmod them."""
    theirs = set(of_others(root, plan))
    if not theirs:
        return plan
    left = (*plan.left, *(LeftPath(path=path, why=Why.FOREIGN) for path in theirs))
    return plan._replace(
        left=tuple(sorted(left)),
        chmods=tuple(change for change in plan.chmods if change.path not in theirs),
    )


def refuse(found: Survey, *, even_incomplete: bool) -> None:
    """Raise Refusal if files cannot be moved, or if the person has to agree first."""
    if found.stuck:
        raise cannot_move(found.stuck)
    force = found.request.force
    if found.lacks and not (force or even_incomplete):
        raise Refusal(Reason.INCOMPLETE, state=found.destination.name, lacks=found.lacks)
    if found.blocked and not force:
        raise Refusal(
            Reason.IN_THE_WAY, count=counted(len(found.blocked), "path"), paths=_some(found.blocked)
        )


def cannot_move(stuck: Sequence[Stuck]) -> Refusal:
    """Return the refusal for files that have to be moved and cannot be."""
    named = "; ".join(map(str, stuck[:NAMED]))
    more = f"; and {len(stuck) - NAMED} more" if len(stuck) > NAMED else ""
    ways = list(dict.fromkeys(each.way_out for each in stuck))
    return Refusal(Reason.CANNOT_MOVE, files=named + more, ways="; ".join(ways[:NAMED]))


def refuse_changing(changed: Sequence[bytes]) -> None:
    """Raise Refusal if paths were changed after they were looked at."""
    if changed:
        raise Refusal(Reason.FILES_CHANGING, paths=_some(changed))


def _lacks(report: Coverage | None) -> str:
    """Return what a snapshot lacks, "" if it is complete."""
    if report is None or report.complete:
        return ""
    parts = []
    if skipped := report.skipped:
        named = ", ".join(f"{quote_path(s.path)} ({s.reason})" for s in skipped[:NAMED])
        parts.append(f"it lacks {named}" + _and_more(skipped))
    if report.nested:
        named = ", ".join(quote_path(path) for path in report.nested[:NAMED])
        parts.append(f"of the repositories in {named} only the files")
    if report.unstable:
        parts.append(f"{_some(report.unstable)} changed while it was taken")
    if report.foreign:
        parts.append(f"the owner of {_some(report.foreign)}, who is another user")
    if report.lacks_more:
        parts.append("its record does not say in what")
    return "; ".join(parts)


def _and_more(items: Sequence[object]) -> str:
    return f" and {len(items) - NAMED} more" if len(items) > NAMED else ""


def _limited(found: Sequence[bytes], paths: Sequence[bytes]) -> list[bytes]:
    """Return the paths of `found` at or below `paths`. Where `found` has a whole directory, return
    only the wanted path in it."""
    if not paths:
        return list(found)
    limited = {path for path in found if is_selected(path, paths)}
    limited |= {wanted for wanted in paths if any(is_under(wanted, path) for path in found)}
    return sorted(limited)


def _some(paths: Sequence[bytes]) -> str:
    shown = ", ".join(quote_path(path) for path in paths[:NAMED])
    return shown + _and_more(paths)


@contextmanager
def previewed(
    project: Project, workspace: Workspace, destination: Destination, how: RestoreRequest
) -> Iterator[Survey]:
    """Yield what would be done; its trees can be read until the block ends.

    Raises NotFound if a path of `how` is in neither state.
    """
    from siding.record.recording.named_paths import refuse_unknown

    snapshots = TaskSnapshots(project, workspace)
    with snapshots.look() as found:
        refuse_unknown(found.store, (destination.snapshot, found.tree), how.paths)
        here = Here(found.store, snapshots.root, found.tree, found.coverage, found.modes)
        surveyed = survey(project, workspace.task_id, here, destination, how)
        tip = snapshots.tip()
        if how.takes_all and tip is not None and workspace.git_dir:
            now = state_now(project, workspace, tip)
            git = plan_git(project, workspace, now, destination.snapshot)
            surveyed = surveyed._replace(git=git)
        yield surveyed


def state_at(project: Project, workspace: Workspace, snapshot: Sha) -> GitState:
    """Return the git state that a snapshot of the task stands for."""
    return recorded_state(project.snapshots, workspace.task_id, workspace.branch, snapshot)


def place_of(workspace: Workspace) -> CheckoutPlace:
    """Return the workspace as git's commands take it."""
    return CheckoutPlace(root=Path(workspace.path), git_dir=Path(workspace.git_dir))


def state_now(project: Project, workspace: Workspace, snapshot: Sha) -> GitState:
    """Return where HEAD and the task's branch are now, and for the rest what `snapshot` says.

    For a preview, which records nothing.
    """
    recorded = state_at(project, workspace, snapshot)
    head = head_now(project.snapshots, Path(workspace.git_dir))
    return recorded._replace(
        head=head.sha, branch=head.branch, tip=project.repository.branch(workspace.branch)
    )


def plan_git(
    project: Project, workspace: Workspace, now: GitState, snapshot: Sha
) -> "GitRestoration | None":
    """Return what has to be done to come to the state of a snapshot; None if nothing has to."""
    if not workspace.git_dir or not Path(workspace.git_dir).is_dir():
        return None
    store = project.snapshots
    then = state_at(project, workspace, snapshot)
    if now == then:
        return None
    from siding.record.restoring.git_plan import plan_git_restoration

    # A snapshot of before says nothing of the phases. At the base there were none.
    says_all = state_in(store.read_commit(snapshot)) is not None
    return plan_git_restoration(
        project.repository,
        store,
        place_of(workspace),
        workspace.branch,
        now=now,
        then=then,
        with_documents=says_all or snapshot == workspace.base_snapshot,
    )


def kept_off(
    project: Project,
    store: SnapshotStore,
    task_id: TaskId,
    changes: Sequence[Change],
    snapshot: Sha,
) -> tuple[Change, ...]:
    """Return those of `changes`, which lead to `snapshot`, whose files the disk does not have
    there."""
    workspace = project.workspaces.of_task(task_id)
    files = [
        c for c in changes if c.new_mode != NOTHING and GITLINK not in (c.old_mode, c.new_mode)
    ]
    if workspace is None or not files or not workspace.base_snapshot:
        return ()
    where = _where(project, workspace)
    if where is None:
        return ()
    from siding.record.moving.sparse import left_out

    place = place_for(store, PEEKS, os.urandom(8).hex())
    out = left_out(project.repository, where, files, place)
    if out:
        out -= {c.path for c in diff_trees(store, Sha(workspace.base_snapshot), snapshot)}
    return tuple(change for change in files if change.path in out)


def without_kept_off(changes: Sequence[Change], off: Sequence[Change]) -> list[Change]:
    """Return the changes of the disk: a file that is kept off goes if it is there."""
    paths = {change.path for change in off}
    zeros = Sha("0" * len(off[0].new_sha)) if off else Sha("")
    return [
        change._replace(status="D", new_mode=NOTHING, new_sha=zeros)
        if change.path in paths
        else change
        for change in changes
        if change.path not in paths or change.old_mode != NOTHING
    ]


def leave_out(
    project: Project,
    store: SnapshotStore,
    task_id: TaskId,
    off: Sequence[Change],
    keep_fds: Sequence[int],
) -> None:
    """Mark in the task's own index what was kept off, so that a capture does not look for it."""
    workspace = project.workspaces.of_task(task_id)
    if off and workspace is not None:
        from siding.record.snapshots.seeding import leave_out_sparse

        leave_out_sparse(store, store.task(task_id), Path(workspace.git_dir), keep_fds=keep_fds)


def _where(project: Project, workspace: Workspace) -> Place | None:
    if not workspace.git_dir or not Path(workspace.git_dir, "info", "sparse-checkout").exists():
        return None
    from siding.record.moving.sparse import is_sparse

    common = project.paths.common_dir
    where = Place(git_dir=Path(workspace.git_dir), common_dir=common)
    return where if is_sparse(project.repository, where) else None
