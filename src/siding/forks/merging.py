"""Work out the state of a task with what a fork of it has changed, and store it as a snapshot.

The three states are snapshots: what the fork began with, its last state, and the task's present
one. They are merged as they are on disk, so nothing is converted, and untracked files count.
"""

from siding.applying.content import Sources
from siding.applying.git.merging import Conflict, merge_trees
from siding.ground.git import objects
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.record.moving.bench import Bench
from siding.record.restoring.survey import state_at
from siding.record.snapshots.mode_changes import TreeState, mode_changes, modes_of
from siding.record.snapshots.modes import EXECUTABLE, Bare, Modes, named_in
from siding.record.snapshots.patches import Change, parse_raw
from siding.record.snapshots.store import SnapshotStore


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
