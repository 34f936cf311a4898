"""Turn a task's snapshot into a tree that can be committed, and list what cannot be.

A snapshot holds the whole workspace. Files of nested repositories, and paths that no snapshot could
record, cannot be committed. Each of these is reported as `LeftOut`; none is dropped silently.

A snapshot holds files as they are on disk. A commit holds them as the person's git stores them:
line endings normalised, `filter=lfs` content as pointers, `$Id$` collapsed. git itself converts
them (`git/conversion.py`), on copies of the snapshot's files beside the snapshot's
`.gitattributes`. Only files that the task changed are converted; all others keep their blobs. Only
filters of the person's own settings run, and those of the repository that they trusted
(`ground/git/settings.py`); others are refused.
"""

import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from siding.applying.git.attributes import (
    attribute_files,
    converts,
    entry_at,
    refuse_off_filters,
    with_attributes,
)
from siding.ground.errors import SidingError
from siding.ground.git import refs
from siding.ground.git.objects import object_id
from siding.ground.git.paths import is_selected, is_under, join, parents
from siding.ground.git.refs import head_of
from siding.ground.git.settings import UserSettings
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.record.moving.bench import Bench, TreeEntry
from siding.record.moving.move import changed_paths
from siding.record.place.project import Project
from siding.record.snapshots.coverage import Coverage
from siding.record.snapshots.patches import Change
from siding.record.snapshots.store import SnapshotStore, remove_tree
from siding.record.tasks.registry import Workspace
from siding.record.tasks.task import Task

if TYPE_CHECKING:
    from siding.record.recording.last_state import LastState

_NOTHING, _GITLINK = "000000", "160000"
_MERGING = re.compile(rb"merge|binary|conflict-marker-size")  # `binary` merges nothing
_NO_MODE = "000000"


class LeftOut(NamedTuple):
    """A path that the task changed but that cannot be applied, with the reason."""

    path: bytes
    why: str


class Side(NamedTuple):
    """One side of the merge: a state of the task as the tree that git would commit.

    The other sides are the target's tree and the base. `left_out` are paths that the tree lacks,
    `notes` are sentences for the person. `attributes`: the bench holds `.gitattributes` files that
    the merge has to honour. `stray` are links to commits that the agent committed and that no
    `.gitmodules` names: nobody else could check them out.
    """

    tree: Sha
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()
    attributes: bool = False
    stray: tuple[bytes, ...] = ()


class Sources(NamedTuple):
    """A task with all that its states are read from: workspace, bench, newest coverage.

    With `last` the workspace is not looked at, because runs live in it: that state counts.
    """

    project: Project
    task: Task
    workspace: Workspace
    bench: Bench
    coverage: Coverage  # of the newest snapshot
    last: "LastState | None" = None

    @property
    def user(self) -> UserSettings:
        return self.project.user_settings

    @property
    def base_tree(self) -> Sha:
        return self.bench.tree_of(self.workspace.base_commit)

    @property
    def root(self) -> Path:
        """The workspace's directory."""
        return Path(self.workspace.path)

    def head(self) -> Sha | None:
        """Return the commit that the workspace has checked out, None if it has none."""
        if self.last is not None:
            return self.last.head
        if not self.workspace.git_dir:
            return None
        common = self.bench.repository.paths.common_dir
        return head_of(self.bench.git, Path(self.workspace.git_dir), common).sha


def state_at(
    sources: Sources, snapshot: Sha, *, since: Sha | None = None, paths: Sequence[bytes] = ()
) -> Side:
    """Return the state that `snapshot` (a commit or a tree of the store) holds.

    With `since`, only what changed from that snapshot on, upon the base; with `paths`, only those.
    """
    start = since or sources.workspace.base_snapshot
    base = sources.base_tree
    if snapshot == start:
        return Side(tree=base)
    changes = sources.bench.changes_between(Sha(start), snapshot)
    changes = [each for each in changes if is_selected(each.path, paths)]
    nested = _foreign(sources, base, snapshot)
    skipped = {each.path: each.reason for each in sources.coverage.skipped}
    kept, left_out = _sorted_out(changes, nested, skipped)
    links = {
        c.path: TreeEntry(mode=b"160000", sha=c.new_sha) for c in kept if c.new_mode == _GITLINK
    }
    files = [c for c in kept if c.path not in links]
    content = committed(sources.bench, sources.user, base=base, snapshot=snapshot, changes=files)
    moved, unknown, notes = _submodules(sources, (base, snapshot), nested, paths)
    tree = sources.bench.edit_tree(base, {**content.edits, **links, **moved})
    return Side(
        tree=tree,
        left_out=(*left_out, *unknown),
        notes=notes,
        attributes=content.attributes,
    )


def with_commits(sources: Sources, side: Side, head: Sha, gone_back: Collection[str] = ()) -> Side:
    """Return the side with the ignored files that the agent committed: no snapshot holds these.

    `gone_back` are commits that a rollback went back from. A rollback leaves ignored files on disk,
    so it is unknown whether a file that such a commit touched should be applied: it is left out.
    """
    bench = sources.bench
    root = os.fsencode(sources.root)
    changes = changed_paths(bench.repository, bench.place(), bench.tree_of(head), side.tree)
    kept = {
        c.path: TreeEntry(mode=c.old_mode.encode(), sha=c.old_sha)
        for c in changes
        if c.new_mode == _NOTHING and _is_there(root, c)
    }
    links = {path for path, entry in kept.items() if entry.mode == b"160000"}
    if links:
        from siding.applying.links import registered_paths

        stray = links - registered_paths(bench, side.tree)
        kept = {path: entry for path, entry in kept.items() if path not in stray}
        side = _without_links(bench, side, stray)
    if kept and gone_back:
        from siding.applying.git.commit_graph import paths_touched

        doubtful = sorted(kept.keys() & paths_touched(bench, sorted(gone_back)))
        why = "it is ignored, and in a commit that was gone back from"
        left = tuple(LeftOut(path=path, why=why) for path in doubtful)
        side = side._replace(left_out=(*side.left_out, *left))
        kept = {path: entry for path, entry in kept.items() if path not in doubtful}
    return side._replace(tree=bench.edit_tree(side.tree, kept)) if kept else side


def _without_links(bench: Bench, side: Side, stray: Collection[bytes]) -> Side:
    """Return the side with a way out for links that do not go in; their files may."""
    known = bench.read_trees((side.tree, path) for path in stray)
    why = (
        "the agent committed a link to this repository, and no .gitmodules names it: take its .git "
        "away and `git add` its files, or `git submodule add` it"
    )
    left = [LeftOut(path=p, why=why) for p in sorted(stray) if (side.tree, p) not in known]
    others = [each for each in side.left_out if each.path not in stray]
    return side._replace(left_out=(*others, *left), stray=tuple(sorted(stray)))


def with_applied(
    sources: Sources, base: Sha, head: Sha, applied: Sha, gone_back: Collection[str] = ()
) -> Sha:
    """Return the tree of a state that was applied, with the ignored files that went with it.

    They are those of the agent's commit `head` that the target's commit `applied` has as well. It
    is the counterpart of `with_commits`, and leaves out the same files for `gone_back`.
    """
    bench = sources.bench
    changes = changed_paths(bench.repository, bench.place(), bench.tree_of(head), base)
    lacking = [change for change in changes if change.new_mode == _NOTHING]
    if not lacking:
        return base
    from siding.applying.git.commit_graph import paths_touched

    target = bench.tree_of(applied)
    known = bench.read_trees((target, each.path.rpartition(b"/")[0]) for each in lacking)
    doubtful = paths_touched(bench, sorted(gone_back)) if gone_back else set()
    kept = {}
    for change in lacking:
        directory, _, name = change.path.rpartition(b"/")
        if name in known.get((target, directory), {}) and change.path not in doubtful:
            kept[change.path] = TreeEntry(mode=change.old_mode.encode(), sha=change.old_sha)
    return bench.edit_tree(base, kept)


def _is_there(root: bytes, committed: Change) -> bool:
    """Tell whether the committed file or submodule is still on disk.

    A directory in place of a file does not count, nor a file that is reached through a symlink.
    """
    if any(os.path.islink(join(root, above)) for above in parents(committed.path)):
        return False
    full = join(root, committed.path)
    is_directory = os.path.isdir(full) and not os.path.islink(full)
    return os.path.lexists(full) and is_directory == (committed.old_mode == _GITLINK)


def _sorted_out(
    changes: Sequence[Change], nested: Sequence[bytes], skipped: Mapping[bytes, str]
) -> tuple[list[Change], list[LeftOut]]:
    kept: list[Change] = []
    left: list[LeftOut] = []
    for change in changes:
        if any(is_under(change.path, place) for place in nested):
            continue
        lacking = next((place for place in skipped if is_under(change.path, place)), None)
        if lacking is not None:
            left.append(LeftOut(path=change.path, why=_why(skipped[lacking])))
        else:
            kept.append(change)
    left += [
        LeftOut(path=path or b".", why=_why(reason))
        for path, reason in skipped.items()
        if path not in {each.path for each in left}
    ]
    return kept, left


def _why(reason: str) -> str:
    return f"no snapshot holds it: {reason}"


def _submodules(
    sources: Sources, sides: tuple[Sha, Sha], nested: Sequence[bytes], paths: Sequence[bytes]
) -> tuple[dict[bytes, TreeEntry], list[LeftOut], tuple[str, ...]]:
    """Return the submodules that are at other commits, what is left out, and notes.

    `sides` are the trees of the base and the snapshot. The target can take a submodule's commit,
    but not files of a nested repository.
    """
    if not nested:
        return {}, [], ()
    if sources.last is not None:
        raise SidingError(
            "runs live in the workspace, and it has repositories of its own, whose commits no "
            "step records",
            hint="--now takes the workspace as it is; `siding stop --all` ends the runs",
        )
    from siding.applying.links import registered_paths

    base, snapshot = sides
    known = sources.bench.read_trees((base, path.rpartition(b"/")[0]) for path in nested)
    registered = registered_paths(sources.bench, snapshot)
    moved: dict[bytes, TreeEntry] = {}
    left: list[LeftOut] = []
    notes: list[str] = []
    for path in nested:
        directory, _, name = path.rpartition(b"/")
        entry = known.get((base, directory), {}).get(name)
        if not is_selected(path, paths):
            continue
        is_link = entry is not None and entry.mode == b"160000"
        if not is_link and path not in registered:
            left.append(LeftOut(path=path, why="it is a repository of its own"))
            continue
        repository = _repository_at(sources, path)
        head = refs.read_head(repository, repository) if repository is not None else None
        at = None if head is None else head.sha
        if (
            repository is None
            or at is None
            or not _is_committed(sources, repository, at, path, snapshot)
        ):
            left.append(LeftOut(path=path, why="its files are not committed in this submodule"))
        if at is not None and (entry is None or at != entry.sha):
            moved[path] = TreeEntry(mode=b"160000", sha=at)
            shown = os.fsdecode(path)
            notes.append(
                f"submodule {shown!r} goes to {at[:12]}: push that commit from the workspace, "
                "where it is"
            )
    return moved, left, tuple(notes)


def _foreign(sources: Sources, base: Sha, snapshot: Sha) -> list[bytes]:
    """Return the repositories in the workspace whose files are not for this one.

    Where the base has files of such a directory they are, whatever else was begun there; but not
    if the agent has made a submodule of it.
    """
    nested = list(sources.coverage.nested)
    if not nested:
        return []
    from siding.applying.links import registered_paths

    files = {path for _tree, path in sources.bench.read_trees((base, path) for path in nested)}
    own = files - registered_paths(sources.bench, snapshot) if files else files
    return [path for path in nested if path not in own]


def _repository_at(sources: Sources, path: bytes) -> Path | None:
    """Return the git directory of a submodule; it may lie in the submodule itself."""
    from siding.record.snapshots.submodules import repository_of

    found = repository_of(sources.root, Path(sources.workspace.git_dir), path)
    inside = Path(os.fsdecode(join(os.fsencode(sources.root), path))) / ".git"
    if found is None and inside.is_dir() and not inside.is_symlink():
        return inside
    return found


def _is_committed(
    sources: Sources, repository: Path, head: Sha, path: bytes, snapshot: Sha
) -> bool:
    """Tell whether the files of a submodule equal the commit it has checked out.

    Compares the files in the snapshot: git is not run in the workspace, where it would read the
    submodule's own configuration.
    """
    from siding.record.snapshots.submodules import tree_in

    store = sources.bench.store
    files = f"{snapshot}:{os.fsdecode(path)}"
    found = store.git.attempt(store.place(), ["rev-parse", "--verify", "-q", files])
    committed = tree_in(store, repository, head)
    nothing = object_id("tree", b"", store.repository.object_format)
    return (found.stdout.decode("ascii").strip() or nothing) == committed


@contextmanager
def bench_for(project: Project, store: SnapshotStore, root: Path) -> Iterator[Bench]:
    """Yield a new bench in the directory `root` for the snapshots of `store`; remove it at the
    end."""
    settings = project.user_settings.settings
    bench = Bench(project.repository, store, root, settings=settings)
    bench.open()
    try:
        yield bench
    finally:
        bench.close()


class Content(NamedTuple):
    """The tree entries that commit some changes of a snapshot; None removes a path.

    `attributes`: the bench's files include `.gitattributes` that convert, or say how to merge.
    """

    edits: dict[bytes, TreeEntry | None]
    attributes: bool


def committed(
    bench: Bench,
    user: UserSettings,
    *,
    base: Sha,
    snapshot: Sha,
    changes: Sequence[Change],
) -> Content:
    """Return the entries with which `changes` are committed on top of `base`.

    `base` and `snapshot` are trees; `changes` lead to `snapshot` and bring no gitlinks. The bench's
    files are those of this snapshot afterwards, and of no other that was asked for before.
    """
    remove_tree(bench.files)
    refuse_off_filters(bench, user, (snapshot, base), changes)
    present = [c for c in changes if c.new_mode != _NO_MODE]
    directories = {b"", *(above for change in changes for above in parents(change.path))}
    known = bench.read_trees(
        [*((base, d) for d in directories), *((snapshot, d) for d in directories)]
    )
    attributes = attribute_files(bench, snapshot, known)
    edits: dict[bytes, TreeEntry | None] = {
        change.path: None for change in changes if change.new_mode == _NO_MODE
    }
    converting = bool(present) and converts(bench, user, attributes)
    merging = any(_MERGING.search(body) for _, body in attributes.values())
    if converting:
        from siding.applying.git import conversion

        stored = conversion.stored(bench, user, base, present, attributes, known)
    else:
        if merging:
            from siding.applying.git import conversion

            conversion.lay_out(bench, with_attributes([], attributes))
        stored = {c.path: TreeEntry(mode=c.new_mode.encode(), sha=c.new_sha) for c in present}
    edits |= stored
    edits = {path: entry for path, entry in edits.items() if entry_at(known, base, path) != entry}
    return Content(edits=edits, attributes=converting or merging)
