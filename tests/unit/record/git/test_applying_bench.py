"""The bench: objects that are nobody's yet, trees edited as git would, and what is kept of them."""

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from siding.applying.git.merging import Conflict, GitTooOld, merge_trees
from siding.ground.git.errors import GitError
from siding.ground.ids import Sha
from siding.record.moving.bench import Bench, Entries, TreeEntry, parse_tree, tree_body
from siding.record.snapshots.changes import CaptureLimits
from siding.record.snapshots.peek import peek
from siding.record.snapshots.status_look import CaptureRequest

from .world import TASK, World, bytes_below, write

NAMES = st.binary(min_size=1, max_size=4).filter(
    lambda name: (
        b"/" not in name
        and b"\0" not in name
        and name not in (b".", b"..")
        and b".git" not in name.lower()
    )
)
PATHS = st.lists(st.sampled_from([b"a", b"b", b"a.b", b"a\n", b"\xff"]), min_size=1, max_size=3)


@pytest.fixture
def bench(task: World) -> Iterator[Bench]:
    made = Bench(task.repository, task.store, task.directory / "bench")
    made.open()
    yield made
    made.close()
    assert not (task.directory / "bench").exists()


def entry(bench: Bench, content: bytes, mode: bytes = b"100644") -> TreeEntry:
    return TreeEntry(mode=mode, sha=bench.put("blob", content))


def files(bench: Bench, tree: Sha) -> dict[bytes, tuple[bytes, bytes]]:
    """Return path -> (mode, id), as git lists a tree."""
    output = bench.git.run(bench.place(), ["ls-tree", "-r", "-z", tree], doing="listing")
    found = {}
    for line in output.split(b"\0")[:-1]:
        about, _, path = line.partition(b"\t")
        mode, _kind, sha = about.split(b" ")
        found[path] = (mode, sha)
    return found


@given(st.dictionaries(NAMES, st.sampled_from([b"100644", b"40000", b"120000"]), max_size=6))
def test_a_tree_reads_back_as_it_was_written(modes: dict[bytes, bytes]) -> None:
    entries: Entries = {
        name: TreeEntry(mode=mode, sha=Sha("ab" * 20)) for name, mode in modes.items()
    }
    assert parse_tree(tree_body(entries), 20) == entries


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_an_edited_tree_is_the_one_git_makes(bench: Bench, data: st.DataObject) -> None:
    """Files put in and taken out, where no file is above another: git itself says what that is."""
    was: dict[bytes, TreeEntry] = {}
    for part in data.draw(st.lists(PATHS, max_size=6)):
        _put(was, b"/".join(part), entry(bench, data.draw(st.binary(max_size=3))))
    start = bench.edit_tree(bench.put("tree", b""), was)
    assert {path: each.sha.encode() for path, each in was.items()} == {
        path: sha for path, (_mode, sha) in files(bench, start).items()
    }
    now = dict(was)
    for part in data.draw(st.lists(PATHS, max_size=4)):
        path = b"/".join(part)
        if path in now and data.draw(st.booleans()):
            del now[path]
        else:
            _put(now, path, entry(bench, data.draw(st.binary(max_size=3))))
    edits: dict[bytes, TreeEntry | None] = {path: None for path in was if path not in now}
    edits |= {path: each for path, each in now.items() if was.get(path) != each}
    made = bench.edit_tree(start, edits)
    assert made == bench.edit_tree(bench.put("tree", b""), now)
    if now:
        bench.index.unlink(missing_ok=True)
        place = bench.place(index_file=bench.index, locks=True)
        lines = [each.mode + b" " + each.sha.encode() + b"\t" + path for path, each in now.items()]
        bench.git.run(
            place,
            ["update-index", "-z", "--index-info"],
            doing="writing",
            stdin=b"\0".join(lines) + b"\0",
        )
        by_git = bench.git.run(place, ["write-tree"], doing="writing").decode().strip()
        assert made == by_git


def _put(tree: dict[bytes, TreeEntry], path: bytes, new: TreeEntry) -> None:
    for other in [o for o in tree if o.startswith(path + b"/") or path.startswith(o + b"/")]:
        del tree[other]
    tree[path] = new


def test_nothing_of_it_is_in_the_users_repository(task: World, bench: Bench) -> None:
    before = bytes_below(task.root / ".git")
    tree = bench.edit_tree(bench.tree_of(task.head()), {b"new": entry(bench, b"new")})
    commit = bench.commit(tree, (task.head(),))
    assert bench.tree_of(commit) == tree
    assert bytes_below(task.root / ".git") == before


def test_what_is_kept_is_whole_without_the_bench(task: World, bench: Bench) -> None:
    """Also what only the snapshot store has."""
    (task.worktree / "agent").write_bytes(b"agent\r\n")
    taken = task.capture()
    stored = files(bench, bench.tree_of(taken.snapshot))[b"agent"]
    edits = {b"agent": TreeEntry(mode=stored[0], sha=Sha(stored[1].decode()))}
    tree = bench.edit_tree(bench.tree_of(task.head()), {**edits, b"x/y": entry(bench, b"y")})
    commit = bench.commit(tree, (task.head(),))
    bench.keep(commit, without=(task.head(),))
    bench.close()
    task.user("update-ref", "refs/heads/kept", commit)
    assert task.user("show", "kept:agent") == b"agent\r\n"
    assert task.user("show", "kept:x/y") == b"y"
    task.user("fsck", "--no-dangling")


def test_what_a_look_has_found_is_kept_too(task: World) -> None:
    """A phase move commits what it has only looked at."""
    write(task.worktree / "seen", "seen\n")
    look = CaptureRequest(
        task_id=TASK,
        root=task.where,
        git_dir=task.git_dir,
        branch=task.branch,
        step="",
        kind="look",
        at=0,
        limits=CaptureLimits(max_file_bytes=1000),
    )
    with peek(task.store, look, unique="u") as seen:
        bench = Bench(task.repository, seen.store, task.directory / "bench")
        bench.open()
        commit = bench.commit(seen.tree, (task.head(),))
        bench.keep(commit, without=(task.head(),))
        bench.close()
    assert task.user("show", f"{commit}:seen") == b"seen\n"


def test_what_is_not_there_is_an_error(bench: Bench) -> None:
    with pytest.raises(GitError, match="not there"):
        bench.read(["ab" * 20], kind=b"blob")
    with pytest.raises(GitError, match="not there as a commit"):
        bench.read([bench.put("blob", b"x")], kind=b"commit")
    assert bench.read_trees([(Sha("ab" * 20), b"")]) == {}


def test_directories_are_read_whatever_they_are_called(bench: Bench) -> None:
    edits = {b"a\nb/c\nd/f": entry(bench, b"1"), b"plain/g": entry(bench, b"2")}
    tree = bench.edit_tree(bench.put("tree", b""), edits)
    asked = [(tree, b"a\nb/c\nd"), (tree, b"plain"), (tree, b"gone"), (tree, b"plain/g")]
    found = bench.read_trees(asked)
    assert {key[1]: [*entries] for key, entries in found.items()} == {
        b"a\nb/c\nd": [b"f"],
        b"plain": [b"g"],
    }


# Merging on it.


def trees(bench: Bench, *contents: dict[bytes, bytes]) -> list[Sha]:
    empty = bench.put("tree", b"")
    return [
        bench.edit_tree(empty, {path: entry(bench, body) for path, body in each.items()})
        for each in contents
    ]


def test_one_side_alone_needs_no_merge(bench: Bench) -> None:
    base, other = trees(bench, {b"f": b"1"}, {b"f": b"2"})
    assert merge_trees(bench, base=base, ours=base, theirs=other).tree == other
    assert merge_trees(bench, base=base, ours=other, theirs=base).tree == other
    assert merge_trees(bench, base=base, ours=other, theirs=other).tree == other


def test_both_sides_are_joined_line_by_line(bench: Bench) -> None:
    lines = b"".join(b"%d\n" % number for number in range(20))
    base, ours, theirs = trees(
        bench,
        {b"f": lines, b"gone": b"x"},
        {b"f": lines.replace(b"3\n", b"ours\n", 1), b"gone": b"x"},
        {b"f": lines.replace(b"19\n", b"theirs\n"), b"new": b"n"},
    )
    merged = merge_trees(bench, base=base, ours=ours, theirs=theirs)
    assert merged.conflicts == ()
    expected = lines.replace(b"3\n", b"ours\n", 1).replace(b"19\n", b"theirs\n")
    (joined,) = trees(bench, {b"f": expected, b"new": b"n"})
    assert merged.tree == joined


def test_conflicts_are_named_with_their_kind(bench: Bench) -> None:
    base, ours, theirs = trees(
        bench,
        {b"both": b"0\n", b"odd \n\xff": b"0\n"},
        {b"both": b"1\n"},
        {b"both": b"2\n", b"odd \n\xff": b"3\n"},
    )
    merged = merge_trees(bench, base=base, ours=ours, theirs=theirs)
    assert merged.conflicts == (
        Conflict(path=b"both", kind="contents"),
        Conflict(path=b"odd \n\xff", kind="modify/delete"),
    )
    (body,) = bench.read([files(bench, merged.tree)[b"both"][1].decode()], kind=b"blob")
    assert merged.ours.encode() in body
    assert merged.theirs.encode() in body


def test_of_several_kinds_of_a_conflict_the_first_is_told(bench: Bench) -> None:
    """Of a file that one side renamed and the other deleted git names the old path, too."""
    lines = b"".join(b"%d\n" % number for number in range(20))
    base, ours, theirs = trees(bench, {b"old": lines}, {b"new": lines + b"more\n"}, {})
    merged = merge_trees(bench, base=base, ours=ours, theirs=theirs)
    assert merged.conflicts == (Conflict(path=b"new", kind="rename/delete"),)


def test_a_git_without_such_merges_is_told(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    sides = trees(bench, {}, {b"f": b"1"}, {b"g": b"2"})
    merge = partial(merge_trees, bench, base=sides[0], ours=sides[1], theirs=sides[2])
    monkeypatch.setattr(bench.git, "version", lambda: (2, 37, 9))
    with pytest.raises(GitTooOld, match=r"git 2\.37\.9 cannot"):
        merge()
    monkeypatch.setattr(bench.git, "version", lambda: (2, 38))
    assert files(bench, merge().tree).keys() == {b"f", b"g"}


def test_an_abandoned_bench_is_swept(task: World) -> None:
    """What a killed apply left in its place is gone when the next one begins."""
    root = task.directory / "bench"
    left = root / "files" / "deep"
    left.mkdir(parents=True)
    (left / "x").write_text("x")
    os.symlink(Path(task.root), root / "link")
    made = Bench(task.repository, task.store, root)
    made.open()
    assert [path.name for path in root.iterdir()] == ["objects"]
    made.close()
    assert (task.root / "a.txt").exists()
