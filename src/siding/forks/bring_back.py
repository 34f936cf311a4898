"""Bring the change of a fork back onto the task that it was made from, as a step of that task.

Three states are merged: what the fork began with, its last state, and the task's present one. They
are snapshots, merged as they are on disk, so nothing is converted, and untracked files count.
"""

from siding.applying.branch_move import bench_root, sources_of
from siding.applying.content import Sources, bench_for
from siding.applying.git.merging import Conflict, merge_trees
from siding.applying.history import effective_steps
from siding.forks.parentage import Parentage, with_parentage
from siding.ground.errors import UsageError
from siding.ground.git import objects
from siding.ground.git.paths import quote_path
from siding.ground.ids import Sha, TaskId
from siding.ground.namedtuples import NamedTuple
from siding.record.acts.pause import BesideRuns
from siding.record.acts.skeleton import Done, Work, perform
from siding.record.ledger.draft import Draft
from siding.record.ledger.move_details import ConflictedPath, MergedBranch, RollbackDetail
from siding.record.ledger.step import Step, StepStatus
from siding.record.moving.bench import Bench
from siding.record.place.locks import holding_task
from siding.record.place.project import Project
from siding.record.recording.opening import open_anywhere
from siding.record.restoring.act import Going, MovedFiles, RestoreAct, Restored, RestorePlan
from siding.record.restoring.survey import Destination, RestoreRequest, state_at
from siding.record.snapshots.mode_changes import TreeState, mode_changes, modes_of
from siding.record.snapshots.modes import EXECUTABLE, Bare, Modes, named_in
from siding.record.snapshots.patches import Change, parse_raw
from siding.record.snapshots.store import SnapshotStore
from siding.record.tasks.task import Task
from siding.record.traps.marks import mark_of, mark_sandboxed


class BroughtBack(NamedTuple):
    """The fork's change is in the task's workspace, uncommitted.

    `step` is None if the task had all of it already. `left` are paths that were not touched, such
    as those of submodules, with the reason; `missed` were written by somebody else meanwhile.
    `kept` are the files that hold what others wrote while files were moved: absolute paths.
    """

    step: Step | None
    left: tuple[tuple[str, str], ...] = ()
    missed: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


class ForkConflict(NamedTuple):
    """The fork and the task disagree about these paths. Nothing was changed."""

    paths: tuple[ConflictedPath, ...]


class _Disagree(Exception):
    """Carries the conflicts out of the act, before it begins."""

    def __init__(self, conflict: ForkConflict) -> None:
        super().__init__("the fork and the task disagree")
        self.conflict = conflict


def bring_back(project: Project, fork: Task) -> BroughtBack | ForkConflict:
    """Bring what the fork has changed onto the present state of its parent.

    It comes uncommitted: HEAD and the index of the parent stay. Runs of the parent that live are
    paused meanwhile. Brought back again, only what is new since then comes. Raises TaskBusy if a
    run lives in the fork, or if this is called from a run of the parent, and the errors of a
    rollback; then nothing was changed.
    """
    parentage = Parentage.of(fork)
    if parentage is None:
        raise UsageError(f"task {fork.name!r} is no fork", hint="`siding apply` applies a task")
    parent = project.tasks.load(parentage.parent)
    with holding_task(project, fork.id, f"bringing back {fork.id}") as hold:
        recorder = open_anywhere(project, fork, hold)
        recorder.settle()
        ended = recorder.seen.snapshot
        began = _brought_last(project, parent.id, fork) or Sha(parentage.base)
        act = BringBackAct(fork, began, ended)
        try:
            done = perform(project, parent.id, act)
        except _Disagree as found:
            return found.conflict
        _note_applied(project, fork, ended)
        return done


def _brought_last(project: Project, parent: TaskId, fork: Task) -> Sha | None:
    """Return the fork's state that the parent has of it; None if it has none, or went back."""
    for step in effective_steps(project, parent):
        merged = None if step is None else step.merged
        if step is not None and merged is not None and merged.branch == fork.id:
            return Sha(merged.commit) if step.status == StepStatus.COMPLETED else None
    return None


def _note_applied(project: Project, fork: Task, ended: Sha) -> None:
    current = project.tasks.load(fork.id)
    parentage = Parentage.of(current)
    assert parentage is not None
    project.tasks.save(with_parentage(current, parentage._replace(applied=ended)))


class BringBackAct(RestoreAct[BroughtBack]):
    """Go to the state that merging the fork's change leads to."""

    # The lock is waited for, since many forks come back at once, and runs that live are paused.
    beside_runs = True
    pauses_runs = BesideRuns()

    def __init__(self, fork: Task, began: Sha, ended: Sha) -> None:
        self.what = f"bringing back {fork.id}"
        self._fork = fork
        self._began = began
        self._ended = ended
        self._nothing = False

    def going(self, work: Work) -> Going:
        project, recorder = work.project, work.recorder
        present = recorder.seen.snapshot
        if mark_of(project, self._fork.id) is not None:
            mark_sandboxed(project, work.task.id)
        with bench_for(project, project.snapshots, bench_root(project, work.task.id)) as bench:
            sides = Sides(self._began, self._ended, present)
            found = merged_state(sources_of(recorder, bench), sides)
        if found.conflicts:
            paths = tuple(ConflictedPath(quote_path(c.path), c.kind) for c in found.conflicts)
            raise _Disagree(ForkConflict(paths))
        self._nothing = found.snapshot is None
        return Going(
            Destination(found.snapshot or present, f"the state with {self._fork.id}", None),
            RestoreRequest(files_only=True),
            RollbackDetail(
                target="merge",
                message=f"{self._fork.name} brought back",
                merged=MergedBranch(branch=self._fork.id, commit=self._ended),
            ),
            even_incomplete=True,
        )

    def draft(self, work: Work, plan: RestorePlan) -> Draft | None:
        return None if self._nothing else super().draft(work, plan)

    def result(self, work: Work, plan: RestorePlan, done: Done[MovedFiles] | None) -> BroughtBack:
        return BroughtBack(None) if done is None else super().result(work, plan, done)

    def restored(self, work: Work, restored: Restored) -> BroughtBack:
        left = tuple((quote_path(e.path), e.why.value) for e in restored.survey.plan.left)
        missed = tuple(quote_path(path) for path in restored.missed)
        moved = restored.step.as_rollback
        home = work.project.layout.root
        kept = tuple(str(home / path) for path in (moved.kept if moved else ()))
        return BroughtBack(restored.step, left, missed, kept)


class Sides(NamedTuple):
    """The snapshots to merge: what the fork began with, its last state, and the present one."""

    began: Sha
    ended: Sha
    present: Sha


class MergedState(NamedTuple):
    """The snapshot to go to, None if nothing would change; or the paths in conflict."""

    snapshot: Sha | None
    conflicts: tuple[Conflict, ...] = ()


def merged_state(sources: Sources, sides: Sides) -> MergedState:
    """Return the state with the fork's change; nothing is stored if there are conflicts.

    Raises GitTooOld if both have changed and git cannot merge them.
    """
    bench, store = sources.bench, sources.bench.store
    present = bench.tree_of(sides.present)
    merged = merge_trees(
        bench, base=bench.tree_of(sides.began), ours=present, theirs=bench.tree_of(sides.ended)
    )
    if merged.conflicts:
        return MergedState(None, merged.conflicts)
    changes = [] if merged.tree == present else _changes(bench, present, merged.tree)
    modes = _modes(store, sides, changes)
    if merged.tree == present and modes == modes_of(store, sides.present):
        return MergedState(None)
    return MergedState(_stored(sources, sides, merged.tree, modes))


def _changes(bench: Bench, old: Sha, new: Sha) -> list[Change]:
    place = bench.place()
    output = bench.git.run(
        place,
        ["diff-tree", "-r", "--raw", "-z", "--no-renames", "--no-abbrev", old, new],
        doing="comparing with what the fork has changed",
    )
    return parse_raw(output)


def _modes(store: SnapshotStore, sides: Sides, changes: list[Change]) -> Modes | None:
    """Return the permissions of the merged state: those of the fork where it has changed them."""
    began, ended, present = (modes_of(store, each) for each in sides)
    if present is None:
        return None
    files = dict(present.files)
    for change in changes:
        if not change.new_mode.startswith("100"):
            files.pop(change.path, None)
            continue
        is_executable = change.new_mode == EXECUTABLE
        wanted = present.usual.of_file(executable=is_executable)
        if ended is not None and change.path in ended.files:
            wanted = ended.files[change.path]
            wanted = wanted | 0o100 if is_executable else wanted & ~0o111
        _set(files, present, change.path, wanted, is_executable=is_executable)
    directories = dict(present.directories)
    for each in mode_changes(store, TreeState(sides.began, began), TreeState(sides.ended, ended)):
        if each.is_directory:
            if present.of_directory(each.path) == each.before:
                directories[each.path] = each.after
        elif present.files.get(each.path, each.before) == each.before:
            is_executable = bool(each.after & 0o100)
            _set(files, present, each.path, each.after, is_executable=is_executable)
    for path, mode in {} if ended is None else ended.directories.items():
        if path not in directories and (began is None or path not in began.directories):
            directories[path] = mode  # the fork has made it
    gone = {change.path for change in changes}
    links = present.links and tuple(g for g in present.links if not gone.intersection(g))
    return present._replace(
        files=files,
        directories=directories,
        links=links,
        bare=_bare(present.bare, began and began.bare, ended and ended.bare, changes),
    )


def _set(
    files: dict[bytes, int], present: Modes, path: bytes, mode: int, *, is_executable: bool
) -> None:
    if mode == present.usual.of_file(executable=is_executable):
        files.pop(path, None)
    else:
        files[path] = mode


def _bare(
    present: Bare | None, began: Bare | None, ended: Bare | None, changes: list[Change]
) -> Bare | None:
    """Return the directories without files: those the fork made are added, those it took go."""
    if present is None or began is None or ended is None:
        return present
    filled = {change.path.rpartition(b"/")[0] for change in changes}
    empty = {*present.empty} - ({*began.empty} - {*ended.empty})
    empty |= {*ended.empty} - {*began.empty}
    return present._replace(empty=tuple(sorted(empty - filled)))


def _stored(sources: Sources, sides: Sides, tree: Sha, modes: Modes | None) -> Sha:
    """Write the snapshot: HEAD, the branch and the index are those of now."""
    bench, workspace = sources.bench, sources.workspace
    state = state_at(sources.project, workspace, sides.present)
    stored = named_in(bench.store.read_commit(sides.present))
    if modes is not None:
        stored = _commit(sources, tree, (), modes.text())
    head = state.head if state.head != workspace.base_commit else None
    parents = tuple(each for each in (sides.present, head, state.details, stored) if each)
    message = (
        f"apply of a fork\n\nTask: {sources.task.id}\nKind: fork"
        + (f"\nHead: {state.head}" if state.head else "")
        + state.trailers()
        + (f"\nModes: {stored}" if stored else "")
    )
    snapshot = _commit(sources, tree, parents, message)
    without = tuple(each for each in (sides.present, workspace.base_commit, state.head) if each)
    bench.keep(snapshot, without=without, into=bench.store.objects)
    return snapshot


def _commit(sources: Sources, tree: Sha, parents: tuple[Sha, ...], message: str) -> Sha:
    at = int(sources.project.app.clock.now().timestamp())
    commit = objects.Commit(tree=tree, parents=parents, message=message)
    return sources.bench.put("commit", objects.commit_body(commit, at=at))
