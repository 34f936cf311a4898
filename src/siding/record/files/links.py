"""Plan the hard links of a restoration.

A file that has to be linked, or to be one of its own again, is written anew even if its content is
right: the new files are linked to each other where they are staged, and exchanged like all others.
So no file that is there is written to, nor linked to: a program may have it open, and it may have
names elsewhere.
"""

from collections.abc import Collection, Mapping, Sequence

from siding.ground.git.paths import EXECUTABLE, REGULAR, is_selected
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.record.files.plan import Restoration
from siding.record.snapshots.modes import Links
from siding.record.snapshots.patches import Change
from siding.record.snapshots.store import SnapshotStore

_FILES = (REGULAR, EXECUTABLE)


class Blob(NamedTuple):
    """A file in a tree."""

    mode: str
    sha: Sha


def with_links(
    store: SnapshotStore, plan: Restoration, now: Links, tree: Sha, paths: Sequence[bytes]
) -> Restoration:
    """Return `plan` with what it takes to link files as in the state of `tree`.

    `now` are the groups of links that are there, `paths` limits it as in `plan_restoration`. If
    the links of that state are not known, those that are there and need not be written stay.
    """
    if plan.modes is None or plan.modes.links is None:
        return plan
    then = plan.modes.links
    if not then and not now:
        return plan
    named = {path for group in (*then, *now) for path in group}
    files = {p: blob for p, blob in _files(store, tree).items() if p in named}
    return linking(plan, now, files, paths)


def linking(
    plan: Restoration, now: Links, files: Mapping[bytes, Blob], paths: Sequence[bytes] = ()
) -> Restoration:
    """Return `plan` with its `links`. `files` are those of the state gone to that are linked."""
    assert plan.modes is not None
    gone = {change.path for change in (*plan.writes, *plan.deletes)}
    fixed = {each.path for each in plan.left}
    groups = _groups(plan.modes.links or (), files, fixed, paths)
    present = [frozenset(group) - gone for group in now]
    wanted = {frozenset(group) for group in groups}
    renewed = {path for group in wanted if group not in present for path in group}
    for together in present:
        if together not in wanted:
            # The first may stay what it is; the others are no longer the same file.
            rest = sorted(together - renewed)[1:]
            renewed |= {p for p in rest if p in files and _is_free(p, fixed, paths)}
    extra = [
        Change(
            status="M",
            path=path,
            old_mode=files[path].mode,
            new_mode=files[path].mode,
            old_sha=files[path].sha,
            new_sha=files[path].sha,
        )
        for path in renewed - gone
    ]
    writes = tuple(sorted((*plan.writes, *extra), key=lambda each: each.path))
    written = {change.path for change in writes}
    return plan._replace(
        writes=writes,
        links=tuple(group for group in groups if written.issuperset(group)),
        chmods=tuple(c for c in plan.chmods if c.is_directory or c.path not in written),
    )


def _groups(
    links: Links, files: Mapping[bytes, Blob], fixed: Collection[bytes], paths: Sequence[bytes]
) -> list[tuple[bytes, ...]]:
    """Return the groups that can be made: files that may be touched, of equal bytes."""
    found = []
    for group in links:
        able = tuple(sorted(p for p in group if p in files and _is_free(p, fixed, paths)))
        # They differ if they were written while the snapshot was taken.
        if len(able) > 1 and len({files[path] for path in able}) == 1:
            found.append(able)
    return found


def _is_free(path: bytes, fixed: Collection[bytes], paths: Sequence[bytes]) -> bool:
    return path not in fixed and is_selected(path, paths)


def _files(store: SnapshotStore, tree: Sha) -> dict[bytes, Blob]:
    output = store.git.run(
        store.place(), ["ls-tree", "-r", "-z", tree], doing="listing the files of a snapshot"
    )
    found = {}
    for line in output.split(b"\0")[:-1]:
        about, _, path = line.partition(b"\t")
        mode, _kind, sha = about.decode("ascii").split(" ")
        if mode in _FILES:
            found[path] = Blob(mode, Sha(sha))
    return found
