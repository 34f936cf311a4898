"""Replace the small files that unfinished git commands leave in a workspace's git directory."""

import os
from collections.abc import Mapping
from pathlib import Path

from siding.ground.git.errors import SnapshotDamaged
from siding.ground.git.treewalk import OpenTree
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.record.restoring.small_files import put_small_file, remove_small_file
from siding.record.snapshots.git_look import LARGEST_FILE
from siding.record.snapshots.store import SnapshotStore


class SmallFiles(NamedTuple):
    """What to do with them: the contents to write, and the names to remove."""

    written: Mapping[str, bytes]
    removed: tuple[str, ...]


def plan_small_files(
    store: SnapshotStore, present: Mapping[str, Sha], wanted: Mapping[str, Sha]
) -> SmallFiles:
    """Return how the small files `present` become the `wanted` ones.

    The contents are read now, before anything is changed. Raises SnapshotDamaged if one is lost.
    """
    written: dict[str, bytes] = {}
    for name, sha in wanted.items():
        if present.get(name) == sha:
            continue
        data = store.read_blob(sha, LARGEST_FILE)
        if data is None:
            raise SnapshotDamaged(f"{name} of that state is lost")
        written[name] = data
    return SmallFiles(written, tuple(sorted(present.keys() - wanted.keys())))


def replace_small_files(git_dir: Path, plan: SmallFiles) -> None:
    """Remove and write the small files, durably."""
    if not (plan.written or plan.removed):
        return
    with OpenTree(git_dir) as tree:
        for name in reversed(plan.removed):
            remove_small_file(tree, os.fsencode(name))
        for name, data in sorted(plan.written.items()):
            put_small_file(tree, os.fsencode(name), data)
