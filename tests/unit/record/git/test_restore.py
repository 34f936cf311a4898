"""Going back to a tree: what is planned, what stands in the way, what is on disk afterwards."""

import os
import shutil
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flushes import Watcher
from siding.ground.git.errors import GitError, WorkspaceReplaced
from siding.ground.git.treewalk import OpenTree
from siding.ground.ids import Sha
from siding.record.files.aside import listed, move_in, move_out
from siding.record.files.obstacles import changed_since, obstacles
from siding.record.files.plan import Restoration, Why, plan_restoration
from siding.record.files.restore import restore
from siding.record.files.staging import staged
from siding.record.snapshots.patches import Change, diff_trees

from .world import World, on_disk, write

NONE, FILE, LINK, GITLINK = "000000", "100644", "120000", "160000"
PATH = st.lists(st.sampled_from([b"a", b"b", b"c"]), min_size=1, max_size=3).map(b"/".join)
_NUMBERS = count()
MODE = st.sampled_from([NONE, FILE, LINK, GITLINK])


def change(path: bytes, old: str, new: str) -> Change:
    def sha(mode: str) -> Sha:
        return Sha(("0" if mode == NONE else "1") * 40)

    return Change(
        status="M", path=path, old_mode=old, new_mode=new, old_sha=sha(old), new_sha=sha(new)
    )


def go(world: World, plan: Restoration) -> None:
    with staged(
        world.store, world.where, plan, world.directory / f"staging{next(_NUMBERS)}"
    ) as contents:
        restore(world.where, plan, contents)


def back(world: World, old: Sha, new: Sha) -> Restoration:
    return plan_restoration(diff_trees(world.store, old, new))


@given(
    changes=st.dictionaries(PATH, st.tuples(MODE, MODE), max_size=8),
    unknown=st.sets(PATH, max_size=3),
    ignored=st.sets(PATH, max_size=3),
    paths=st.lists(PATH, max_size=2),
)
def test_every_path_is_in_exactly_one_list(
    changes: dict[bytes, tuple[str, str]],
    unknown: set[bytes],
    ignored: set[bytes],
    paths: list[bytes],
) -> None:
    given_changes = [change(path, *modes) for path, modes in changes.items()]
    plan = plan_restoration(given_changes, unknown=unknown, ignored=ignored, paths=paths)
    lists = [
        *(each.path for each in plan.writes),
        *(each.path for each in plan.deletes),
        *(each.path for each in plan.left),
    ]
    wanted = [
        p for p in changes if not paths or any(p == w or p.startswith(w + b"/") for w in paths)
    ]
    assert sorted(lists) == sorted(wanted)
    assert all(each.new_mode != NONE for each in plan.writes)
    assert all(each.new_mode == NONE for each in plan.deletes)
    assert not {each.path for each in plan.deletes} & ignored
    touched = {each.path for each in (*plan.writes, *plan.deletes)}
    assert not touched & unknown
    assert all(GITLINK in changes[each.path] for each in plan.left if each.why is Why.REPOSITORY)


def test_nothing_below_a_path_that_no_snapshot_holds_is_touched() -> None:
    """What was not captured may be a file now and a directory in the snapshot: both are left."""
    changes = [
        change(b"unknown/made", NONE, FILE),
        change(b"unknown/gone/deep", FILE, NONE),
        change(b"unknown beside", FILE, NONE),
    ]
    plan = plan_restoration(changes, unknown=[b"unknown"])
    assert [(each.path, each.why) for each in plan.left] == [
        (b"unknown/gone/deep", Why.NOT_CAPTURED),
        (b"unknown/made", Why.NOT_CAPTURED),
    ]
    assert [each.path for each in (*plan.writes, *plan.deletes)] == [b"unknown beside"]


@pytest.mark.parametrize("act", ["write", "delete", "make"])
def test_every_directory_with_a_changed_name_is_flushed(
    task: World, monkeypatch: pytest.MonkeyPatch, act: str
) -> None:
    root = task.worktree
    first = task.capture().snapshot
    if act == "write":
        write(root / "src/deep/c.txt", "changed\n")
    elif act == "delete":
        write(root / "src/deep/new", "new\n")
    else:
        shutil.rmtree(root / "src")
    plan = back(task, task.capture().snapshot, first)
    staging = task.directory / "staging"
    with staged(task.store, task.where, plan, staging) as contents:
        watcher = Watcher(monkeypatch)
        restore(task.where, plan, contents)
        places = (root, root / "src", root / "src/deep", staging)
        directories = [os.stat(path) for path in places]
        unflushed = {inode for _name, inode in watcher.unflushed()}
    ours = {(found.st_dev, found.st_ino) for found in directories}
    assert ours & {inode for _name, inode in watcher.calls}
    assert not ours & unflushed


def test_files_directories_and_links_take_each_others_places(task: World) -> None:
    root = task.worktree
    first = task.capture().snapshot
    before = on_disk(root)
    (root / "a.txt").unlink()
    write(root / "a.txt/now/a directory", "x")
    for path in sorted((root / "src").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    (root / "src").rmdir()
    (root / "src").symlink_to("a.txt")
    write(root / "new/deep/file", "y")
    second = task.capture().snapshot
    after = on_disk(root)
    go(task, back(task, second, first))
    assert on_disk(root) == before
    assert not (root / "new").exists()
    go(task, back(task, first, second))
    assert on_disk(root) == after


@settings(max_examples=12, suppress_health_check=list(HealthCheck), deadline=None)
@given(data=st.data())
def test_there_and_back_is_the_identity(data: st.DataObject, task: World) -> None:
    names = st.lists(st.sampled_from(["p", "q", "r r", "ü\n"]), min_size=1, max_size=3).map(
        "/".join
    )
    snapshots, trees = [], []
    for _ in range(2):
        for name in data.draw(st.sets(names, max_size=4)):
            path = task.worktree / name
            if any(parent.is_file() for parent in path.parents) or path.is_dir():
                continue
            write(path, data.draw(st.binary(max_size=20)))
            path.chmod(data.draw(st.sampled_from([0o644, 0o755])))
        snapshots.append(task.capture().snapshot)
        trees.append(on_disk(task.worktree))
    go(task, back(task, snapshots[1], snapshots[0]))
    assert on_disk(task.worktree) == trees[0]
    go(task, back(task, snapshots[0], snapshots[1]))
    assert on_disk(task.worktree) == trees[1]


def test_a_foreign_file_is_an_obstacle_unless_it_is_the_same(task: World) -> None:
    old = task.capture().snapshot
    write(task.worktree / "new/file", "content")
    new = task.capture().snapshot
    plan = back(task, old, new)
    object_format = task.store.repository.object_format
    assert obstacles(task.where, plan, object_format) == []  # the very same is there
    write(task.worktree / "new/file", "CONTENT")
    assert obstacles(task.where, plan, object_format) == [b"new/file"]
    assert obstacles(task.where, plan, object_format, leaving=[b"new"]) == []
    assert obstacles(task.where, plan, object_format, leaving=[b"new/file"]) == []
    (task.worktree / "new/file").unlink()
    (task.worktree / "new").rmdir()
    write(task.worktree / "elsewhere/file", "other")
    (task.worktree / "new").symlink_to("elsewhere")
    assert obstacles(task.where, plan, object_format) == [b"new"]
    with pytest.raises(NotADirectoryError):
        go(task, plan)
    assert (task.worktree / "elsewhere/file").read_text() == "other"


def test_a_change_after_the_snapshot_is_noticed(task: World) -> None:
    first = task.capture().snapshot
    write(task.worktree / "a.txt", "two\n")
    second = task.capture().snapshot
    plan = back(task, second, first)
    object_format = task.store.repository.object_format
    now = os.stat(task.worktree / "a.txt").st_ctime_ns
    assert changed_since(task.where, plan, object_format, now) == []
    write(task.worktree / "a.txt", "six\n")
    assert changed_since(task.where, plan, object_format, now) == [b"a.txt"]
    assert changed_since(task.where, plan, object_format, now + 10**12) == []


def test_a_missing_blob_changes_nothing(task: World) -> None:
    before = on_disk(task.worktree)
    missing = Change(
        status="A",
        path=b"x",
        old_mode=NONE,
        new_mode=FILE,
        old_sha=Sha("0" * 40),
        new_sha=Sha("12" * 20),
    )
    plan = Restoration(writes=(missing,), deletes=(), left=(), directories=())
    with pytest.raises(GitError, match="lacks"):
        go(task, plan)
    assert on_disk(task.worktree) == before
    assert not (task.directory / "staging").exists()


def test_another_directory_in_its_place_is_not_touched(task: World) -> None:
    first = task.capture().snapshot
    write(task.worktree / "a.txt", "two\n")
    plan = back(task, task.capture().snapshot, first)
    task.worktree.rename(task.directory / "moved")
    write(task.worktree / "a.txt", "somebody's")
    with pytest.raises(WorkspaceReplaced):
        go(task, plan)
    assert (task.worktree / "a.txt").read_text() == "somebody's"


def test_moved_out_and_in_again(task: World) -> None:
    root, aside = task.worktree, task.directory / "aside"
    write(root / "ignored/x/y", "1")
    write(root / "src/z.log", "2")
    before = on_disk(root)
    moved = move_out(task.where, [b"ignored", b"src/z.log", b"not there"], aside)
    assert moved == [b"ignored", b"src/z.log"]
    assert sorted(listed(aside)) == [b"ignored/x/y", b"src/z.log"]
    assert not (root / "ignored").exists()
    write(root / "ignored/x/other", "new")
    came, stays = move_in(task.where, aside)
    assert (came, stays) == ([b"ignored/x/y", b"src/z.log"], [])
    assert on_disk(root) == {**before, b"ignored/x/other": ("100644", b"new")}
    assert not aside.exists()


def test_what_has_taken_its_place_keeps_it(task: World) -> None:
    root, aside = task.worktree, task.directory / "aside"
    write(root / "x", "old")
    move_out(task.where, [b"x"], aside)
    write(root / "x", "new")
    assert move_in(task.where, aside) == ([], [b"x"])
    assert (root / "x").read_text() == "new"
    assert (aside / "x").read_text() == "old"


def test_a_tree_never_follows_a_link(tmp_path: Path) -> None:
    write(tmp_path / "outside/secret", "x")
    write(tmp_path / "tree/file", "y")
    (tmp_path / "tree/link").symlink_to(tmp_path / "outside")
    with OpenTree(tmp_path / "tree") as tree:
        assert not tree.is_directory(b"link")
        assert tree.exists(b"link")
        assert not tree.exists(b"link/secret")
        for refused in (b"link", b"link/deeper", b"file"):
            with pytest.raises(NotADirectoryError):
                tree.make(refused)


def test_more_directories_than_descriptors_are_kept(tmp_path: Path) -> None:
    with OpenTree(tmp_path) as tree:
        for number in range(100):
            tree.make(b"d%d/e/f" % number)
        assert sum(1 for _ in tree.listing(b"")) == 100
        assert all(tree.is_directory(b"d%d/e/f" % number) for number in range(100))
