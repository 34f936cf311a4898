"""What has other permissions, links or empty directories in one state than in another.

The modes that a snapshot was recorded with are read from the commit that holds them.
"""

from collections.abc import Collection, Mapping

from siding.ground.git.paths import parents, unquote_path
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.record.snapshots.modes import BARE, EXECUTABLE, TITLE, Bare, Modes, Usual, named_in
from siding.record.snapshots.patches import Change, diff_trees
from siding.record.snapshots.store import SnapshotStore

_REGULAR = ("100644", EXECUTABLE)


class TreeState(NamedTuple):
    """A tree, or a snapshot, with its modes; None when nobody recorded them."""

    tree: Sha
    modes: Modes | None


def parse(text: str) -> Modes | None:
    """Return what `Modes.text` wrote; None when it is something else. Unknown lines are passed."""
    title, _, body = text.partition("\n\n")
    if title != TITLE:
        return None
    usual = Usual()
    found: dict[str, dict[bytes, int]] = {"d": {}, "f": {}}
    groups: dict[str, list[bytes]] | None = None
    bare: dict[str, list[bytes]] | None = None
    try:
        for line in body.split("\n"):
            kind, _, rest = line.partition(" ")
            if kind == "usual":
                usual = Usual(*(int(word, 8) for word in rest.split(" ")[:3]))
            elif kind == "links":
                groups = {}
            elif kind == "l" and groups is not None:
                number, _, name = rest.partition(" ")
                groups.setdefault(number, []).append(unquote_path(name))
            elif kind == "bare":
                bare = {letter: [] for letter in BARE}
            elif bare is not None and kind in bare:
                bare[kind].append(unquote_path(rest))
            elif kind in found:
                mode, _, name = rest.partition(" ")
                found[kind][unquote_path(name)] = int(mode, 8) & 0o7777
    except ValueError:
        return None
    links = None if groups is None else tuple(tuple(group) for group in groups.values())
    return Modes(
        usual=usual,
        files=found["f"],
        directories=found["d"],
        links=links,
        bare=None if bare is None else Bare(*(tuple(bare[letter]) for letter in BARE)),
    )


def modes_of(store: SnapshotStore, snapshot: Sha) -> Modes | None:
    """Return the modes recorded with a snapshot."""
    named = named_in(store.read_commit(snapshot))
    return None if named is None else parse(store.read_commit(named).message)


def state_of(store: SnapshotStore, snapshot: Sha) -> TreeState:
    """Return a snapshot with its modes."""
    return TreeState(tree=snapshot, modes=modes_of(store, snapshot))


class ModeChange(NamedTuple):
    """A file or directory that is on both sides and has another mode on the second."""

    path: bytes
    before: int
    after: int
    is_directory: bool


def bare_changes(old: Modes | None, new: Modes | None) -> set[bytes]:
    """Return the directories that are empty in one of the two and not there, or full, in the other.

    Unknown ones are equal to all.
    """
    if old is None or new is None or old.bare is None or new.bare is None:
        return set()
    return {*old.bare.empty} ^ {*new.bare.empty}


def link_changes(old: Modes | None, new: Modes | None) -> dict[bytes, tuple[bytes, ...]]:
    """Return the paths that are linked to others in `new` than in `old`, with their group there.

    The group is empty for a path that is one of its own there. Unknown links are equal to all.
    """
    if old is None or new is None or old.links is None or new.links is None:
        return {}
    before = {path: group for group in old.links for path in group}
    after = {path: group for group in new.links for path in group}
    paths = sorted({*before, *after})
    return {p: after.get(p, ()) for p in paths if before.get(p) != after.get(p)}


def mode_changes(
    store: SnapshotStore,
    old: TreeState,
    new: TreeState,
    *,
    changes: Collection[Change] | None = None,
    empty_before: Collection[bytes] = (),
    empty_after: Collection[bytes] = (),
) -> list[ModeChange]:
    """Return what has another mode in `new`, whatever became of its bytes; in order of paths.

    `changes` are the differences of the trees, and the others the empty directories, which no tree
    holds, where the caller knows them. Unknown modes are equal to all.
    """
    if old.modes is None or new.modes is None or old.modes == new.modes:
        return []
    if changes is None:
        changes = diff_trees(store, old.tree, new.tree)
    before, after = old.modes, new.modes
    files, directories = {*before.files, *after.files}, {*before.directories, *after.directories}
    programs: set[bytes] = set()
    if before.usual != after.usual:
        there, listed, programs = _listed(store, new.tree)
        files |= there
        directories |= listed
    by_path = {change.path: change for change in changes}
    found = _of_files(files, programs, before, after, by_path)
    different = {p for p in directories if before.of_directory(p) != after.of_directory(p)}
    # One that only one side names may not be there at all on the other.
    if different - before.directories.keys():
        different &= before.directories.keys() | _listed(store, old.tree)[1] | {b"", *empty_before}
    if different - after.directories.keys():
        different &= after.directories.keys() | _listed(store, new.tree)[1] | {b"", *empty_after}
    found += [
        ModeChange(path, before.of_directory(path), after.of_directory(path), is_directory=True)
        for path in different
    ]
    return sorted(found)


def _of_files(
    paths: set[bytes],
    programs: set[bytes],
    before: Modes,
    after: Modes,
    changes: Mapping[bytes, Change],
) -> list[ModeChange]:
    found = []
    for path in paths:
        change = changes.get(path)
        if change is None:
            # Nothing in git's tree differs: the owner's x bit is the same on both sides.
            known = before.files.get(path, after.files.get(path))
            was = now = path in programs if known is None else bool(known & 0o100)
        elif change.old_mode in _REGULAR and change.new_mode in _REGULAR:
            was, now = change.old_mode == EXECUTABLE, change.new_mode == EXECUTABLE
        else:
            continue  # made, deleted, or no file on one side
        old, new = before.of_file(path, executable=was), after.of_file(path, executable=now)
        if old != new:
            found.append(ModeChange(path=path, before=old, after=new, is_directory=False))
    return found


def _listed(store: SnapshotStore, tree: Sha) -> tuple[set[bytes], set[bytes], set[bytes]]:
    """Return the files of a tree, the directories, and the files that are executable."""
    output = store.git.run(
        store.place(), ["ls-tree", "-r", "-z", tree], doing="listing the files of a snapshot"
    )
    files: set[bytes] = set()
    directories: set[bytes] = set()
    programs: set[bytes] = set()
    for line in output.split(b"\0")[:-1]:
        about, _, path = line.partition(b"\t")
        directories.update(parents(path))
        if about.startswith(b"100"):
            files.add(path)
        if about.startswith(EXECUTABLE.encode()):
            programs.add(path)
    return files, directories, programs
