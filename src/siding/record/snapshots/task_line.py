"""The snapshots of one task in order, its other commits in the store, and which trees are needed.

The task's snapshots are a line by first parent. Their further parents are commits that hold the git
state or the permissions, and commits of the workspace: those that the agent made, and what a sync
brought in. The latter are never freed, with all their files.
"""

from collections.abc import Collection, Mapping
from pathlib import Path

from siding.ground.git.command import Place
from siding.ground.ids import Sha, TaskId
from siding.ground.namedtuples import NamedTuple
from siding.record.snapshots.store import SnapshotStore

_FORMAT = (
    "--format=%H%x00%T%x00%P%x00"
    "%(trailers:key=Git,valueonly,separator=%x20)%x00"
    "%(trailers:key=Modes,valueonly,separator=%x20)"
)


def lineage(store: SnapshotStore, task_id: TaskId) -> list[Sha]:
    """Return the task's snapshots, newest first; the base commit itself is not one of them."""
    tip = store.tip(task_id)
    if tip is None:
        return []
    output = store.git.run(
        store.place(),
        ["rev-list", "--first-parent", tip, "--not", store.base(task_id)],
        doing="listing the snapshots of the task",
    )
    return [Sha(line) for line in output.decode("ascii").split()]


def base_snapshot(store: SnapshotStore, task_id: TaskId) -> Sha | None:
    """Return the snapshot that a task's change is counted from; None when it has no snapshot.

    It is the newest one that was taken of a workspace as it was made: `base base`, where a filter
    or line endings changed bytes at the checkout, else `base`, the commit itself, the oldest one.
    """
    bases = base_snapshots(store, task_id)
    return bases[0] if bases else None


def base_snapshots(store: SnapshotStore, task_id: TaskId) -> list[Sha]:
    """Return the snapshots that were taken of a workspace as it was made, newest first."""
    return [sha for sha, said in _subjects(store, task_id) if said in ("base", "base base")]


def step_snapshots(store: SnapshotStore, task_id: TaskId) -> list[tuple[Sha, int]]:
    """Return the snapshots that were taken for a step, newest first, with the step's number."""
    found = []
    for sha, said in _subjects(store, task_id):
        number = said.rpartition(" ")[2]
        if number.isascii() and number.isdigit():
            found.append((sha, int(number)))
    return found


def _subjects(store: SnapshotStore, task_id: TaskId) -> list[tuple[Sha, str]]:
    """Return the task's snapshots, newest first, with the first lines of their messages."""
    tip = store.tip(task_id)
    if tip is None:
        return []
    output = store.git.run(
        store.place(),
        ["log", "--first-parent", "--format=%H %s", tip, "--not", store.base(task_id), "--"],
        doing="listing the snapshots of the task",
    )
    lines = [line.partition(" ") for line in output.decode("utf-8", "replace").splitlines()]
    return [(Sha(sha), said) for sha, _, said in lines]


class StoredSnapshot(NamedTuple):
    """A snapshot: its tree, and the tree of what was staged and unfinished; None if nothing was."""

    sha: Sha
    tree: Sha
    details: Sha | None

    @property
    def trees(self) -> tuple[Sha, ...]:
        return (self.tree,) if self.details is None else (self.tree, self.details)


class TaskLine(NamedTuple):
    """Everything of one task that its base has not.

    `snapshots` are by their ids, the newest first. `commits` are all commits; `others` are the
    trees of commits of the workspace.
    """

    base: Sha
    snapshots: Mapping[Sha, StoredSnapshot]
    commits: tuple[Sha, ...]
    others: frozenset[Sha]

    def kept(self, freed: Collection[str]) -> set[Sha]:
        """Return the trees that are needed when the snapshots `freed` are freed."""
        trees = set(self.others)
        for each in self.snapshots.values():
            if each.sha not in freed:
                trees.update(each.trees)
        return trees

    def freed(self, freed: Collection[str]) -> set[Sha]:
        """Return the trees of these snapshots that no other one of the task needs."""
        trees: set[Sha] = set()
        for each in self.snapshots.values():
            if each.sha in freed:
                trees.update(each.trees)
        return trees - self.kept(freed)


class _Commit(NamedTuple):
    tree: Sha
    parents: tuple[Sha, ...]
    details: str
    modes: str


def read_line(store: SnapshotStore, task_id: TaskId) -> TaskLine:
    """Return the commits of a task; raises SnapshotDamaged or CommandFailed if one is missing."""
    base, tip = store.base(task_id), store.tip(task_id)
    if tip is None:
        return TaskLine(base, {}, (), frozenset())
    output = store.git.run(
        store.place(),
        ["log", "-z", _FORMAT, tip, "--not", base, "--"],
        doing=f"listing the snapshots of task {task_id}",
    )
    found: dict[Sha, _Commit] = {}
    fields = output.decode("utf-8", "replace").split("\0")[:-1]
    for sha, tree, parents, details, modes in zip(*[iter(fields)] * 5, strict=True):
        above = tuple(Sha(each) for each in parents.split())
        found[Sha(sha)] = _Commit(Sha(tree), above, details.strip(), modes.strip())
    return _sorted_out(base, tip, found)


def _sorted_out(base: Sha, tip: Sha, found: Mapping[Sha, _Commit]) -> TaskLine:
    snapshots: dict[Sha, StoredSnapshot] = {}
    beside: set[str] = set()  # commits that hold the git state or the permissions
    at: Sha | None = tip
    while at is not None and (commit := found.get(at)) is not None:
        details = found.get(Sha(commit.details))
        snapshots[at] = StoredSnapshot(at, commit.tree, None if details is None else details.tree)
        beside.update((commit.details, commit.modes))
        at = commit.parents[0] if commit.parents else None
    # What a sync brought in has permissions of its own; its files stay.
    rest = found.keys() - snapshots.keys() - beside
    beside.update(found[sha].modes for sha in rest if _is_of_a_sync(found[sha], snapshots))
    others = frozenset(found[sha].tree for sha in rest - beside)
    return TaskLine(base, snapshots, tuple(found), others)


def _is_of_a_sync(commit: _Commit, snapshots: Collection[Sha]) -> bool:
    """Tell whether Siding made a commit beside the line: what it says of permissions is true."""
    first, *beside = commit.parents or (None,)
    return first in snapshots and commit.modes in beside


class StoreElsewhere(SnapshotStore):
    """The snapshot store with another directory of objects in place of its own."""

    def __init__(self, store: SnapshotStore, objects: Path) -> None:
        super().__init__(store.git, store.root, store.repository)
        self.objects = objects

    def place(self, task: object = None, **more: object) -> Place:
        assert task is None
        return super().place(None, **{"objects": self.objects, **more})
