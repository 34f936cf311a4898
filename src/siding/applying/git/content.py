"""Convert files of a snapshot to what git would commit, and back.

A snapshot holds files as they are on disk. A commit holds them as the person's git stores them:
line endings normalised, `filter=lfs` content as pointers, `$Id$` collapsed. git itself converts
them, on copies of the snapshot's files beside the snapshot's `.gitattributes`. Only files that the
task changed are converted; all others keep their blobs. Only filters of the person's own settings
run, and those of the repository that they trusted (`settings.py`); others are refused
(`own_filters.py`).
"""

import re
from collections.abc import Sequence

from siding.applying.git.attributes import (
    attribute_files,
    converts,
    entry_at,
    refuse_off_filters,
    with_attributes,
)
from siding.ground.git.paths import parents
from siding.ground.git.settings import UserSettings
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.record.moving.bench import Bench, TreeEntry
from siding.record.snapshots.patches import Change
from siding.record.snapshots.store import remove_tree

_MERGING = re.compile(rb"merge|binary|conflict-marker-size")  # `binary` merges nothing
_NOTHING = "000000"


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
    present = [c for c in changes if c.new_mode != _NOTHING]
    directories = {b"", *(above for change in changes for above in parents(change.path))}
    known = bench.read_trees(
        [*((base, d) for d in directories), *((snapshot, d) for d in directories)]
    )
    attributes = attribute_files(bench, snapshot, known)
    edits: dict[bytes, TreeEntry | None] = {
        change.path: None for change in changes if change.new_mode == _NOTHING
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
