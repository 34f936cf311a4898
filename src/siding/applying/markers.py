"""Name the sides of a merge where git could only name commits.

In the conflict markers, and in the names of files that git sets aside because two things have one
path (``path~<commit>``).
"""

import os
import re

from siding.applying.git.merging import Merged
from siding.ground.ids import Sha
from siding.record.moving.bench import Bench, TreeEntry
from siding.record.snapshots.git_details import IndexEntry


def with_named_sides(bench: Bench, merged: Merged, ours: str, theirs: str) -> Merged:
    """Return the merge with these names in the place of the ids of the commits."""
    if not merged.conflicts:
        return merged
    sides = [(merged.ours.encode(), ours), (merged.theirs.encode(), theirs)]
    paths = sorted({entry.path for entry in merged.stages})  # those of the conflicts, too
    names = {path: _named(path, sides) for path in paths}
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
        stages=tuple(_named_stage(bench, e, names[e.path], sides) for e in merged.stages),
        conflicts=tuple(each._replace(path=names[each.path]) for each in merged.conflicts),
    )


def _named(path: bytes, sides: list[tuple[bytes, str]]) -> bytes:
    for sha, label in sides:
        head, found, tail = path.rpartition(b"~" + sha)
        if found:  # what follows is a number, if the name was taken
            return head + b"~" + os.fsencode(label).replace(b"/", b"_").replace(b" ", b"_") + tail
    return path


def _named_stage(
    bench: Bench, entry: IndexEntry, name: bytes, sides: list[tuple[bytes, str]]
) -> IndexEntry:
    """A side can have markers of its own: of a file that both have renamed and changed."""
    if entry.mode.startswith("100"):
        entry = entry._replace(sha=_with_markers(bench, entry.sha, sides))
    return entry._replace(path=name)


def _with_markers(bench: Bench, blob: Sha, sides: list[tuple[bytes, str]]) -> Sha:
    (body,) = bench.read([blob], kind=b"blob")
    named = body
    for sha, label in sides:
        # Only markers: a file may well name the commit somewhere else.
        marker = re.compile(rb"(?m)^([<>|]{7,} )" + sha + rb"(?=[:\r\n])")
        escaped = os.fsencode(label).replace(b"\\", b"\\\\")
        named = marker.sub(rb"\g<1>" + escaped, named)
    return blob if named == body else bench.put("blob", named)
