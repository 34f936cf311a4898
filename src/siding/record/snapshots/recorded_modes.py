"""The modes that a snapshot was recorded with, read from the commit that holds them."""

from siding.ground.git.paths import unquote_path
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.record.snapshots.bare import Bare
from siding.record.snapshots.modes import BARE, TITLE, Modes, Usual, named_in
from siding.record.snapshots.store import SnapshotStore


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
