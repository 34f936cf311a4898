"""A task's own index: how it is made again, what is put into it, and what it is read with."""

import os
from pathlib import Path

import pytest

from siding.ground.git.command import Git
from siding.ground.git.errors import CommandFailed
from siding.ground.ids import Sha
from siding.record.snapshots.changes import IndexPlan
from siding.record.snapshots.coverage import Reason, Skipped
from siding.record.snapshots.tree_look import PrivateIndex

from .world import TASK, World, write

SUBMODULE = "12" * 20
EMPTY = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"


def index_of(task: World) -> PrivateIndex:
    return PrivateIndex(task.store, task.store.task(TASK), task.worktree, ())


@pytest.fixture
def index(task: World) -> PrivateIndex:
    return index_of(task)


def tree_of(task: World) -> Sha:
    return Sha(task.user("rev-parse", "HEAD^{tree}").decode().strip())


def listed(index: PrivateIndex) -> dict[bytes, tuple[bytes, bytes]]:
    """Return what the index holds: of each path its tag (`S` is left out) and its content."""
    place = index.place()  # with this setting git takes what is there for not left out
    plain = tuple(each for each in place.settings if each != "core.sparseCheckout=true")
    output = index.run(
        place._replace(settings=plain), ["ls-files", "-t", "--stage", "-z"], "listing"
    )
    found = {}
    for line in output.split(b"\0")[:-1]:
        about, _, path = line.partition(b"\t")
        tag, _mode, sha, _stage = about.split(b" ")
        found[path] = (tag, sha)
    return found


def names(index: PrivateIndex) -> set[bytes]:
    return set(listed(index))


ALL = {b"a.txt", b"src/b.txt", b"src/deep/c.txt"}


def test_with_what_git_works_on_it(task: World, index: PrivateIndex) -> None:
    users = task.store.repository.objects
    place = index.place()
    assert (place.git_dir, place.work_tree, place.locks) == (
        task.store.task(TASK).path,
        task.worktree,
        True,
    )
    assert place.alternates == (users,)
    index.task.incoming.mkdir()
    assert index.place().alternates == (users, index.task.incoming)
    assert index.place(locks=False) == index.place()._replace(locks=False)
    sparse = "core.sparseCheckout=true"
    assert sparse not in index.place().settings
    index.task.sparse.write_bytes(b"2")
    assert sparse in index_of(task).place().settings


def test_what_a_git_that_died_left_is_swept(index: PrivateIndex) -> None:
    for name in ("index.lock", "HEAD.lock"):
        (index.task.path / name).write_bytes(b"")
    index.sweep()
    index.sweep()
    assert not list(index.task.path.glob("*.lock"))
    assert names(index) == ALL


def test_what_is_not_stored_yet_is_given_up_with_the_index(index: PrivateIndex) -> None:
    (index.task.incoming / "pack").mkdir(parents=True)
    (index.task.path / "index.lock").write_bytes(b"")
    index.discard()
    index.discard()
    left = {path.name for path in index.task.path.iterdir()}
    assert left.isdisjoint({"incoming", "index", "index.lock"})
    assert "HEAD" in left


def test_an_index_is_made_again_from_a_tree(task: World, index: PrivateIndex) -> None:
    (index.task.incoming / "pack").mkdir(parents=True)
    index.drop([b"a.txt"])
    index.prepare(tree_of(task), None)  # it is there: it stays as it is
    assert names(index) == ALL - {b"a.txt"}
    index.start_over(tree_of(task), task.git_dir)
    assert names(index) == ALL
    assert not index.task.incoming.exists()
    index.task.index_file.unlink()
    index.prepare(tree_of(task), None)
    assert names(index) == ALL


def test_what_a_sparse_checkout_leaves_out_is_marked_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.add()
    world.user("sparse-checkout", "set", "--no-cone", "/src/deep/", cwd=world.worktree)

    world.begin(world.head())
    index, tree = index_of(world), tree_of(world)

    def marked() -> set[bytes]:
        return {path for path, (tag, _) in listed(index).items() if tag == b"S"}

    index.start_over(tree, world.git_dir)
    assert marked() == {b"a.txt", b"src/b.txt"}
    write(world.worktree / "a.txt", "here\n")
    for version, still in (((2, 36), True), ((2, 39, 5), True), ((2, 35), False)):
        monkeypatch.setattr(Git, "version", lambda _, version=version: version)
        index.prepare(tree, world.git_dir)
        assert (b"a.txt" in marked()) == still
        assert b"src/b.txt" in marked()
    index.start_over(tree, None)
    assert marked() == set()
    index.task.sparse.write_bytes(b"")
    index = index_of(world)
    index.start_over(tree, world.git_dir)  # it was none when the task began
    assert marked() == set()


def test_nested_repositories_are_opened_and_closed_again(index: PrivateIndex) -> None:
    index.run(
        index.place(),
        ["update-index", "--index-info"],
        "adding a submodule",
        f"160000 {SUBMODULE}\tsub\n".encode(),
    )
    assert index.gitlinks() == {b"sub": SUBMODULE}
    hidden = b".siding-placeholder"
    index.open_nested([b"sub", b"own"])
    assert index.gitlinks() == {}
    found = listed(index)
    assert found.keys() == ALL | {b"sub/" + hidden, b"own/" + hidden}
    assert found[b"sub/" + hidden] == found[b"own/" + hidden] == (b"H", EMPTY.encode())

    def closed(*update: bytes) -> list[bytes]:
        made = IndexPlan([*update], drop=[], opening={}, skipped=[], ignored=[], staged=False)
        index.close_if_empty(b"sub", SUBMODULE, made)
        return made.update

    assert closed(b"sub/new", b"sub/" + hidden) == [b"sub/new", b"sub/" + hidden]
    assert index.gitlinks() == {}
    assert closed(b"other", b"sub/" + hidden) == [b"other"]
    assert index.gitlinks() == {b"sub": SUBMODULE}
    assert names(index) == ALL | {b"sub", b"own/" + hidden}
    index.open_nested([b"sub"])
    assert closed() == []
    assert index.gitlinks() == {b"sub": SUBMODULE}
    index.task.index_file.unlink()
    assert index.gitlinks() == {}


def test_files_are_recorded_as_they_are(task: World, index: PrivateIndex) -> None:
    write(task.worktree / "a.txt", "changed\n")
    (task.worktree / "src/b.txt").unlink()
    write(task.worktree / "new", "new\n")
    assert index.record([b"a.txt", b"src/b.txt", b"new"]) == []
    assert names(index) == {b"a.txt", b"src/deep/c.txt", b"new"}
    tree = index.write_tree()
    content = index.run(index.place(), ["cat-file", "blob", f"{tree}:new"], "reading")
    assert content == b"new\n"
    made = index.task.incoming / "pack"
    assert made.stat().st_mode & 0o777 == 0o700
    assert not task.store.present([tree])  # what is new waits for the pack that is made of it


def test_a_tree_can_be_written_where_nothing_was_recorded(task: World, index: PrivateIndex) -> None:
    assert index.write_tree() == tree_of(task)
    assert index.task.incoming.is_dir()


def test_a_file_that_cannot_be_read_is_found_among_others(task: World, index: PrivateIndex) -> None:
    for name in ("n1", "n2", "n3", "n4"):
        write(task.worktree / name, name)
    os.mkfifo(task.worktree / "pipe")
    skipped = Skipped(path=b"pipe", reason=Reason.CHANGING)
    assert index.record([b"pipe"]) == [skipped]
    assert index.record([b"n1", b"pipe"]) == [skipped]
    assert index.record([b"n2", b"n3", b"pipe", b"n4"]) == [skipped]
    assert names(index) == ALL | {b"n1", b"n2", b"n3", b"n4"}


def test_git_that_stops_at_a_file_that_can_be_read_has_failed(
    task: World, index: PrivateIndex, tmp_path: Path
) -> None:
    write(tmp_path / "outside" / "file", "x")
    (task.worktree / "link").symlink_to(tmp_path / "outside")
    with pytest.raises(CommandFailed, match="recording link/file"):
        index.record([b"link/file"])
