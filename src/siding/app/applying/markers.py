"""Name the sides of a merge in its conflict markers."""

import os

from siding.git.applying.bench import Bench, TreeEntry
from siding.git.applying.merging import Merged
from siding.ids import Sha


def with_named_markers(bench: Bench, merged: Merged, ours: str, theirs: str) -> Sha:
    """Replace the commit ids in the conflict markers by these names; return the new tree."""
    paths = [conflict.path for conflict in merged.conflicts]
    known = bench.read_trees((merged.tree, p.rpartition(b"/")[0]) for p in paths)
    edits: dict[bytes, TreeEntry | None] = {}
    for path in paths:
        directory, _, name = path.rpartition(b"/")
        entry = known.get((merged.tree, directory), {}).get(name)
        if entry is None or not entry.mode.startswith(b"100"):
            continue
        (body,) = bench.read([entry.sha], kind=b"blob")
        for sha, label in ((merged.ours, ours), (merged.theirs, theirs)):
            body = body.replace(sha.encode(), os.fsencode(label))
        edits[path] = TreeEntry(mode=entry.mode, sha=bench.put("blob", body))
    return bench.edit_tree(merged.tree, edits)
