"""For any tree and any edits: the snapshot is what is on disk, byte for byte."""

import os
import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from siding.record.snapshots.store_upkeep import verify_snapshots

from .world import TASK, Tree, World, on_disk

# Names of any bytes a Linux file system takes, and those that have tripped programs up.
_AWKWARD = [
    b"new\nline",
    b"tab\t",
    b" lead",
    b"trail ",
    b"-rf",
    b"--",
    b"\xff\xfe",
    b'quo"te',
    b"back\\slash",
    b":(glob)*",
    b"*",
    "\u00e9".encode(),
    "e\u0301".encode(),
    b"A",
    b"a",
    b"..x",
    b"a.lock",
    b"HEAD",
    b"x" * 200,
    b"{}",
    b"\x01",
]
_free = st.binary(min_size=1, max_size=6).filter(
    lambda name: (
        not {0, 47} & set(name) and name not in (b".", b"..") and b"git" not in name.lower()
    )
)
_names = st.one_of(st.sampled_from(_AWKWARD), st.sampled_from([b"d", b"e", b"f"]), _free)
_paths = st.lists(_names, min_size=1, max_size=4).map(b"/".join)
_contents = st.one_of(
    st.binary(max_size=40),
    st.sampled_from([b"", b"a\r\nb\r\n", b"\0\1\2", b"no end", b"one\n", b"two\n", b"\n" * 9]),
)
_entries = st.one_of(
    st.tuples(st.sampled_from(["100644", "100755"]), _contents),
    st.tuples(st.just("120000"), st.sampled_from([b"nowhere", b"..", b"/", b"d", b"\xff\n"])),
)
edits_of_trees = st.dictionaries(_paths, st.one_of(st.none(), _entries), max_size=12)


@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(first=edits_of_trees, second=edits_of_trees, third=edits_of_trees, fresh=st.booleans())
def test_snapshots_hold_what_is_on_disk(
    tmp_path: Path, first: Tree, second: Tree, third: Tree, *, fresh: bool
) -> None:
    world = World(Path(tempfile.mkdtemp(dir=tmp_path)) / "w")
    edit(world.root, first)
    world.commit({})
    world.start(fresh=fresh)
    start = world.capture()
    assert world.stored(start.snapshot) == on_disk(world.worktree)
    assert start.snapshot == start.parent
    for edits in (second, third):
        edit(world.worktree, edits)
        before = world.stored(world.store.tip(TASK) or "")
        taken = world.capture()
        held, there = world.stored(taken.snapshot), on_disk(world.worktree)
        assert held == there
        assert taken.coverage.complete
        differing = {p for p in before.keys() | there.keys() if before.get(p) != there.get(p)}
        assert {change.path for change in taken.changes} == differing
        assert world.capture().snapshot == taken.snapshot
    verify_snapshots(world.store, TASK, contents=True)
    world.close()


def edit(root: Path, edits: "dict[bytes, tuple[str, bytes] | None] | Tree") -> None:
    """Make each path what is asked, in the way of whatever was there."""
    for path, entry in edits.items():
        full = os.path.join(os.fsencode(root), path)
        _clear(os.fsencode(root), path)
        if entry is None:
            continue
        os.makedirs(os.path.dirname(full), exist_ok=True)
        mode, content = entry
        if mode == "120000":
            os.symlink(content, full)
        else:
            with open(full, "wb") as file:
                file.write(content)
            os.chmod(full, int(mode[3:], 8))


def _clear(root: bytes, path: bytes) -> None:
    """Remove what is at the path, and any file or link where a directory of it has to be."""
    parts = path.split(b"/")
    for depth in range(1, len(parts) + 1):
        full = os.path.join(root, *parts[:depth])
        if os.path.islink(full) or os.path.isfile(full):
            os.unlink(full)
            return
        if depth == len(parts) and os.path.isdir(full):
            shutil.rmtree(full)
