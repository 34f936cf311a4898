"""Name the sides of a merge where git could only name commits.

In the conflict markers, and in the names of files that git sets aside because two things have one
path (``path~<commit>``).
"""

import os

from siding.git.applying.bench import Bench, TreeEntry
from siding.git.applying.merging import Merged
from siding.ids import Sha


def with_named_sides(bench: Bench, merged: Merged, ours: str, theirs: str) -> Merged:
    """Return the merge with these names in the place of the ids of the commits."""
    if not merged.conflicts:
        return merged
    sides = [(merged.ours.encode(), ours), (merged.theirs.encode(), theirs)]
    paths = {entry.path for entry in merged.stages} | {each.path for each in merged.conflicts}
    names = {path: _named(path, sides) for path in sorted(paths)}
    known = bench.read_trees((merged.tree, path.rpartition(b"/")[0]) for path in names)
    edits: dict[bytes, TreeEntry | None] = {}
    for path, named in names.items():
        directory, _, name = path.rpartition(b"/")
        entry = known.get((merged.tree, directory), {}).get(name)
        if entry is None:
            continue
        if entry.mode.startswith(b"100"):
            entry = entry._replace(sha=_with_markers(bench, entry.sha, sides))
        if named != path:
            edits[path] = None
        edits[named] = entry
    return merged._replace(
        tree=bench.edit_tree(merged.tree, edits),
        stages=tuple(entry._replace(path=names[entry.path]) for entry in merged.stages),
        conflicts=tuple(each._replace(path=names[each.path]) for each in merged.conflicts),
    )


def _named(path: bytes, sides: list[tuple[bytes, str]]) -> bytes:
    for sha, label in sides:
        head, found, tail = path.rpartition(b"~" + sha)
        if found:  # what follows is a number, if the name was taken
            return head + b"~" + os.fsencode(label).replace(b"/", b"_").replace(b" ", b"_") + tail
    return path


def _with_markers(bench: Bench, blob: Sha, sides: list[tuple[bytes, str]]) -> Sha:
    (body,) = bench.read([blob], kind=b"blob")
    for sha, label in sides:
        body = body.replace(sha, os.fsencode(label))
    return bench.put("blob", body)
