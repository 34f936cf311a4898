"""A task's part of the store as it is made: its files, first snapshot, first index, pinned base."""

import os
from pathlib import Path
from typing import Any

import pytest

from siding.ground.git import objects, refs
from siding.ground.git.command import Git, Place
from siding.ground.git.errors import UnknownRevision
from siding.ground.ids import Sha
from siding.record.snapshots import seeding as seedings
from siding.record.snapshots.seeding import (
    Seed,
    add_task,
    attributes_convert,
    attributes_match,
    include_present,
    leave_out_sparse,
    make_index,
    pin,
    read_tree,
    sparse_paths,
)
from siding.record.snapshots.store import SnapshotStore, TaskDirectory
from siding.record.snapshots.store_upkeep import remove_task

from .world import TASK, World, write


class Seeding:
    """Ada's own checkout as the worktree of a new task."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.store: SnapshotStore = world.store
        self.git_dir = world.root / ".git"
        self.task: TaskDirectory = self.store.task(TASK)

    def seed(self, *, fresh: bool = True, own: bool = True) -> Seed:
        return Seed(
            task_id=TASK,
            base=self.world.head(),
            worktree=self.world.root,
            own_git_dir=self.git_dir if own else None,
            fresh_index=self.git_dir / "index" if fresh else None,
            excludes=b"*.swp\n",
            at=1_700_000_000,
            message="base",
        )

    def add(self, **more: bool) -> Sha:
        return add_task(self.store, self.seed(**more))

    def listed(self, *options: str) -> list[bytes]:
        place = self.store.place(self.task)
        return self.store.git.run(place, ["ls-files", "-z", *options], doing="x").split(b"\0")[:-1]

    def is_copied(self) -> bool:
        return self.task.index_file.read_bytes() == (self.git_dir / "index").read_bytes()


@pytest.fixture
def seeding(world: World) -> Seeding:
    return Seeding(world)


def test_a_new_task_has_a_git_directory_and_its_base_as_first_snapshot(seeding: Seeding) -> None:
    tip = seeding.add()
    base = seeding.world.head()
    path = seeding.task.path
    assert (path / "commondir").read_bytes() == b"../..\n"
    assert (path / "HEAD").read_bytes() == f"ref: refs/tasks/{TASK}\n".encode()
    assert (path / "base").read_bytes() == f"{base}\n".encode()
    assert (path / "excludes").read_bytes() == b"*.swp\n"
    assert (path / "sparse").read_bytes() == b""
    assert not list(path.glob("*.lock"))
    tree = Sha(seeding.world.user("rev-parse", "HEAD^{tree}").decode().strip())
    assert seeding.store.read_commit(tip) == objects.Commit(tree, (base,), "base")
    assert seeding.store.tip(TASK) == tip
    shown = seeding.store.git.run(
        seeding.store.place(), ["log", "-1", "--format=%ct", tip], doing="x"
    )
    assert shown == b"1700000000\n"


def test_all_of_it_is_on_the_disk_before_its_name(
    seeding: Seeding, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[object] = []
    monkeypatch.setattr(seedings, "flush_dir", done.append)
    monkeypatch.setattr(refs, "write_ref", lambda _root, name, _sha: done.append(name))
    seeding.add()
    assert done == [seeding.store.objects, seeding.task.path, seeding.task.ref]


def test_a_task_that_is_there_is_left_alone(seeding: Seeding) -> None:
    tip = seeding.add()
    (seeding.task.path / "excludes").write_bytes(b"another\n")
    seeding.world.commit({"a.txt": "later\n"})
    assert seeding.add() == tip
    assert (seeding.task.path / "excludes").read_bytes() == b"another\n"


def test_a_base_that_is_packed_or_whose_loose_copy_is_another(seeding: Seeding) -> None:
    world, other = seeding.world, seeding.world.head()
    base = world.commit({"a.txt": "later\n"})
    tree = Sha(world.user("rev-parse", "HEAD^{tree}").decode().strip())
    loose = objects.loose_path(world.paths.objects, base)
    damaged = objects.loose_path(world.paths.objects, other).read_bytes()
    world.user("repack", "-adq")
    assert not loose.exists()
    assert seeding.store.read_commit(seeding.add()).tree == tree
    remove_task(seeding.store, TASK)
    loose.parent.mkdir(exist_ok=True)
    loose.write_bytes(damaged)
    assert seeding.store.read_commit(seeding.add()).tree == tree


def test_a_fresh_index_is_copied_with_its_time(seeding: Seeding) -> None:
    os.utime(seeding.git_dir / "index", ns=(5, 123_456_789))
    seeding.add()
    assert seeding.is_copied()
    assert seeding.task.index_file.stat().st_mtime_ns == 123_456_789


@pytest.mark.parametrize("why", ["none", "missing", "damaged", "flagged", "pipe"])
def test_without_an_index_to_trust_it_is_made_from_the_base(seeding: Seeding, why: str) -> None:
    index = seeding.git_dir / "index"
    seed = seeding.seed(fresh=why != "none", own=False)
    if why in ("missing", "pipe"):
        index.unlink()
    if why == "pipe":
        os.mkfifo(index)
    if why == "damaged":
        index.write_bytes(b"DIRC")
    if why == "flagged":
        seeding.world.user("update-index", "--assume-unchanged", "a.txt")
    add_task(seeding.store, seed)
    assert seeding.listed() == [b"a.txt", b"src/b.txt", b"src/deep/c.txt"]
    assert why in ("missing", "pipe") or not seeding.is_copied()
    debug = seeding.listed("--debug")
    assert b"size: 0" in b"".join(debug)  # nothing is known of the disk


@pytest.mark.parametrize(
    ("attributes", "converts"),
    [
        ("*.x eol=crlf\n", True),
        ("*.x ident\n", True),
        ("*.x filter=lfs\n", True),
        ("*.x working-tree-encoding=UTF-16\n", True),
        ("*.x crlf\n", True),
        ("*.x text diff=x -merge\n", False),
    ],
)
def test_attributes_that_convert_make_the_index_anew(
    seeding: Seeding, attributes: str, *, converts: bool
) -> None:
    world = seeding.world
    for path in (".gitattributes", "src/deep/.gitattributes", "not.gitattributes"):
        base = world.commit({path: attributes})
        is_one = path != "not.gitattributes"
        assert attributes_convert(seeding.store, base) is (converts and is_one)
        seeding.add()
        assert seeding.is_copied() is not (converts and is_one)
        remove_task(seeding.store, TASK)
        (world.root / path).unlink()
    world.commit({})
    write(seeding.git_dir / "info/attributes", attributes)
    assert attributes_convert(seeding.store, world.head()) is converts
    seeding.add()
    assert seeding.is_copied() is not converts


def test_attributes_that_cannot_be_read_may_convert(seeding: Seeding) -> None:
    os.mkfifo(seeding.git_dir / "info/attributes")
    assert attributes_convert(seeding.store, seeding.world.head())
    assert attributes_match(seeding.store, Sha("12" * 20), "never")  # git fails: the safe way


@pytest.fixture
def sparse(seeding: Seeding) -> Seeding:
    """The checkout has only what lies in `src`."""
    seeding.world.user("sparse-checkout", "set", "--no-cone", "/src/")
    return seeding


def left_out(seeding: Seeding) -> list[bytes]:
    return [line[2:] for line in seeding.listed("-t") if line.startswith(b"S ")]


def test_what_a_sparse_checkout_leaves_out_is_marked(sparse: Seeding) -> None:
    sparse.add()
    assert left_out(sparse) == [b"a.txt"]
    assert sparse.task.sparse.read_bytes() == b"1"
    assert sparse_paths(sparse.store, sparse.git_dir) == [b"a.txt"]


def test_without_rules_or_a_git_directory_nothing_is_left_out(sparse: Seeding) -> None:
    assert sparse_paths(sparse.store, None) == []
    sparse.add(own=False)
    assert left_out(sparse) == []
    assert sparse.task.sparse.read_bytes() == b""
    (sparse.git_dir / "info/sparse-checkout").unlink()
    assert sparse_paths(sparse.store, sparse.git_dir) == []
    assert leave_out_sparse(sparse.store, sparse.task, sparse.git_dir, keep_fds=()) == 0


def test_an_index_is_made_again_as_at_first(sparse: Seeding) -> None:
    sparse.add()
    sparse.task.index_file.write_bytes(b"damaged")
    (sparse.task.path / "index.lock").write_bytes(b"")  # of a git that died
    make_index(sparse.store, sparse.task, sparse.seed(), keep_fds=())
    assert left_out(sparse) == [b"a.txt"]
    read_tree(sparse.store, sparse.task, sparse.world.head(), keep_fds=())
    assert left_out(sparse) == []


def test_what_is_there_all_the_same_is_taken_into_account(sparse: Seeding, tmp_path: Path) -> None:
    root = os.fsencode(sparse.world.root)
    sparse.add()
    include_present(sparse.store, sparse.task, root, keep_fds=())
    assert left_out(sparse) == [b"a.txt"]
    (sparse.world.root / "a.txt").symlink_to(tmp_path / "nowhere")
    include_present(sparse.store, sparse.task, root, keep_fds=())
    assert left_out(sparse) == []


@pytest.mark.parametrize("ref_format", ["files", "reftable"])
def test_a_base_is_pinned_once_and_survives(
    world: World, monkeypatch: pytest.MonkeyPatch, ref_format: str
) -> None:
    sha, git = world.head(), world.git
    paths = world.paths._replace(ref_format=ref_format)
    really = Git.run
    run: list[str] = []

    def noted(self: Git, place: Place, words: list[str], **more: Any) -> bytes:
        run.append(words[0])
        return really(self, place, words, **more)

    monkeypatch.setattr(Git, "run", noted)
    pin(git, paths, sha)
    assert run == ([] if ref_format == "files" else ["update-ref"])
    name = f"refs/siding/base/{sha}"
    assert world.user("for-each-ref", "--format=%(refname) %(objectname)", name).decode() == (
        f"{name} {sha}\n"
    )
    path = paths.common_dir / name
    assert path.read_bytes() == f"{sha}\n".encode()
    if ref_format == "files":
        assert path.stat().st_mode & 0o777 == 0o644

    def started(*_: Any, **__: Any) -> None:
        raise AssertionError("a process for what is pinned already")

    monkeypatch.setattr(Git, "attempt", started)
    pin(git, paths, sha)


def test_what_is_no_commit_is_not_pinned(world: World) -> None:
    blob = world.user("rev-parse", "HEAD:a.txt").decode().strip()
    for sha in ("12" * 20, blob):
        with pytest.raises(UnknownRevision, match=sha):
            pin(world.git, world.paths, Sha(sha))
        assert not (world.paths.common_dir / "refs/siding/base" / sha).exists()


def test_a_pin_that_holds_another_commit_is_put_right(world: World) -> None:
    sha = world.head()
    other = world.commit({"a.txt": "later\n"})
    world.user("update-ref", f"refs/siding/base/{sha}", other)
    pin(world.git, world.paths, sha)
    assert world.user("rev-parse", f"refs/siding/base/{sha}").decode().strip() == sha
