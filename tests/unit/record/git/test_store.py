"""The store of snapshots: how it is made, what it reads, what it removes and how it is tidied."""

import os
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from siding.ground.git import objects, refs
from siding.ground.git.errors import SnapshotDamaged
from siding.ground.ids import Sha, TaskId
from siding.record.snapshots import store as stores
from siding.record.snapshots import store_upkeep
from siding.record.snapshots.store import SnapshotStore, remove_tree
from siding.record.snapshots.store_upkeep import (
    clear_task,
    create_store,
    remove_task,
    repack,
    repair_store,
    set_damaged_objects_aside,
    store_size,
    tidy,
)

from .world import World

NOWHERE = "12" * 20
EMPTY_TREE = Sha("4b825dc642cb6eb9a060e54bf8d69288fbee4904")


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A repository that no test changes but for objects that are added to it."""
    world = World(tmp_path_factory.mktemp("store") / "world")
    world.commit({"a.txt": "one\n"})
    return world


@pytest.fixture
def store(user: World, tmp_path: Path) -> SnapshotStore:
    made = SnapshotStore(user.git, tmp_path / "snapshots.git", user.paths)
    create_store(made)
    return made


def blob(store: SnapshotStore, body: bytes) -> str:
    return objects.write_object(store.objects, "blob", body, "sha1")


def users_blob(user: World, body: bytes) -> str:
    return user.user("hash-object", "-w", "--stdin", stdin=body).decode().strip()


def snapshot(store: SnapshotStore, task: str, message: str = "run 0001") -> Sha:
    body = objects.commit_body(objects.Commit(EMPTY_TREE, (), message), at=1)
    sha = objects.write_object(store.objects, "commit", body, "sha1")
    refs.write_ref(store.root, store.task(TaskId(task)).ref, sha)
    return sha


def pack(store: SnapshotStore, shas: list[str]) -> str:
    """Put these loose objects of the store into a pack of their own; return the pack's id."""
    named = store.git.run(
        store.place(work_tree=None),
        ["pack-objects", "-q", str(store.objects / "pack" / "pack")],
        doing="packing",
        stdin="".join(f"{sha}\n" for sha in shas).encode(),
    )
    for sha in shas:
        objects.loose_path(store.objects, sha).unlink()
    return named.decode().strip()


@pytest.mark.parametrize(("object_format", "version"), [("sha1", "0"), ("sha256", "1")])
def test_a_new_store_is_one_that_git_understands(
    user: World, tmp_path: Path, object_format: str, version: str
) -> None:
    paths = user.paths._replace(object_format=object_format)
    store = SnapshotStore(user.git, tmp_path / "store", paths)
    create_store(store)

    def asked(*words: str) -> str:
        place = store.place(alternates=())
        return store.git.run(place, words, doing="asking").decode().strip()

    assert asked("rev-parse", "--show-object-format") == object_format
    assert asked("config", "--local", "core.repositoryformatversion") == version
    assert asked("config", "--local", "core.bare") == "true"
    assert asked("symbolic-ref", "HEAD") == "refs/heads/none"
    shown = asked("check-attr", "text", "eol", "diff", "--", "any.c")
    assert [line.rpartition(" ")[2] for line in shown.splitlines()] == [
        "unset",
        "unspecified",
        "unspecified",
    ]
    assert all((store.root / name).is_dir() for name in ("objects/pack", "refs/tasks", "tasks"))


def test_a_store_that_is_there_is_left_alone_until_it_is_repaired(store: SnapshotStore) -> None:
    (store.root / "HEAD").unlink()
    create_store(store)
    assert not (store.root / "HEAD").exists()
    repair_store(store)
    assert (store.root / "HEAD").read_bytes() == b"ref: refs/heads/none\n"


def test_where_a_task_is_kept(store: SnapshotStore) -> None:
    task = store.task(TaskId("abc"))
    assert (task.path, task.ref) == (store.root / "tasks/abc", "refs/tasks/abc")
    names = ("index_file", "incoming", "excludes", "base", "seen", "modes", "sparse", "ledger_head")
    assert [getattr(task, name) for name in names] == [
        task.path / name
        for name in (
            *("index", "incoming", "excludes", "base", "seen", "modes", "sparse", "ledger-head"),
        )
    ]
    assert store.task(TaskId("-x")).ref == "refs/tasks/id-x"


def test_the_tasks_that_have_a_snapshot(store: SnapshotStore) -> None:
    assert store.tasks() == []
    second, first = snapshot(store, "b", "second"), snapshot(store, "a", "first")
    (store.root / "refs/tasks/c.lock").write_bytes(b"")
    assert store.tasks() == ["a", "b"]
    assert [store.tip(TaskId(name)) for name in "abc"] == [first, second, None]


def test_the_commit_that_a_task_started_from(store: SnapshotStore) -> None:
    task = store.task(TaskId("abc"))
    task.path.mkdir()
    task.base.write_bytes(f"{NOWHERE}\n".encode())
    assert store.base(TaskId("abc")) == NOWHERE
    for damage in (b"", b"no commit\n"):
        task.base.write_bytes(damage)
        with pytest.raises(SnapshotDamaged, match="base commit of task 'abc' is not recorded"):
            store.base(TaskId("abc"))
    with pytest.raises(SnapshotDamaged, match="not recorded"):
        store.base(TaskId("other"))


def test_how_git_reads_the_store(user: World, store: SnapshotStore) -> None:
    task = store.task(TaskId("abc"))
    assert store.place().git_dir == store.root
    assert store.place().alternates == (user.paths.objects,)
    assert store.place(task, alternates=()) == store.place()._replace(
        git_dir=task.path, alternates=()
    )
    remove_tree(store.objects)
    with pytest.raises(SnapshotDamaged, match="missing or damaged"):
        store.place()


def test_a_commit_is_read_wherever_it_is(user: World, store: SnapshotStore) -> None:
    mine = snapshot(store, "abc", "mine")
    assert store.read_commit(mine) == objects.Commit(EMPTY_TREE, (), "mine")
    pack(store, [mine])
    assert store.read_commit(mine).message == "mine"
    assert store.read_commit(user.head()).message == "a commit"
    with pytest.raises(SnapshotDamaged, match=f"snapshot {NOWHERE} is lost or damaged") as caught:
        store.read_commit(Sha(NOWHERE))
    assert caught.value.hint is not None
    assert "siding doctor" in caught.value.hint


def test_a_loose_object_of_the_store_needs_no_process(
    user: World, store: SnapshotStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit, content = snapshot(store, "abc"), blob(store, b"content")
    monkeypatch.setattr(user.git, "attempt", None)
    other = SnapshotStore(user.git, store.root, user.paths)
    monkeypatch.setattr(other, "git", None)
    assert other.read_commit(commit).tree == EMPTY_TREE
    assert other.read_blob(content, 100) == b"content"
    assert other.read_blobs([content], 100) == {content: b"content"}
    assert other.read_blobs([], 100) == {}


def test_a_blob_is_read_wherever_it_is_up_to_a_length(user: World, store: SnapshotStore) -> None:
    loose, packed, theirs = blob(store, b"loose"), blob(store, b"packd"), users_blob(user, b"their")
    empty = users_blob(user, b"")
    pack(store, [packed])
    wanted = {loose: b"loose", packed: b"packd", theirs: b"their"}
    for sha, body in wanted.items():
        assert store.read_blob(sha, 5) == body
        assert store.read_blob(sha, 4) is None
    assert store.read_blob(empty, 0) == b""
    assert store.read_blob(NOWHERE, 5) is None
    assert store.read_blob(user.head(), 5000) is None  # a commit
    assert store.read_blobs([*wanted, empty], 5) == wanted | {empty: b""}


def test_of_many_blobs_those_are_read_that_fit_and_are_there(
    user: World, store: SnapshotStore
) -> None:
    loose, theirs = blob(store, b"loose"), users_blob(user, b"their")
    more, long = users_blob(user, b"\n\nmore"[:5]), users_blob(user, b"longer than that")
    asked = [NOWHERE, long, theirs, user.head(), loose, more]
    assert store.read_blobs(asked, 5) == {theirs: b"their", loose: b"loose", more: b"\n\nmor"}
    assert store.read_blobs([NOWHERE, loose, long], 5) == {loose: b"loose"}


def test_what_follows_a_damaged_blob_is_not_guessed(user: World, store: SnapshotStore) -> None:
    first, damaged, last = (users_blob(user, b"%d" % n * 5000) for n in range(3))
    path = objects.loose_path(user.paths.objects, damaged)
    whole = path.read_bytes()
    path.chmod(0o600)
    try:
        path.write_bytes(zlib.compress(b"blob 5000\0" + b"short"))
        assert store.read_blobs([first, damaged, last], 9000) == {first: b"0" * 5000}
    finally:
        path.write_bytes(whole)


def test_what_the_store_itself_holds(user: World, store: SnapshotStore) -> None:
    mine, theirs = blob(store, b"of the store"), users_blob(user, b"of the user")
    asked = [theirs, NOWHERE, mine]
    assert store.present(asked) == {mine}
    assert store.present(asked, with_base=True) == {mine, theirs}


def test_a_task_that_is_forgotten_leaves_nothing(store: SnapshotStore) -> None:
    gone, kept = TaskId("gone"), TaskId("kept")
    for name in (gone, kept):
        snapshot(store, name)
        (store.task(name).path / "git").mkdir(parents=True)
    remove_task(store, gone)
    assert store.tasks() == [kept]
    assert os.listdir(store.root / "tasks") == [kept]
    remove_task(store, gone)


def test_a_task_whose_ledger_stays_keeps_the_ledgers_anchor(
    store: SnapshotStore, tmp_path: Path
) -> None:
    task = store.task(TaskId("abc"))
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_bytes(b"x")
    snapshot(store, "abc")
    (task.path / "incoming/pack").mkdir(parents=True)
    (task.path / "link").symlink_to(outside)
    for name in ("index", "ledger-head", "next-task"):
        (task.path / name).write_bytes(b"x")
    clear_task(store, TaskId("abc"))
    assert store.tip(TaskId("abc")) is None
    assert set(os.listdir(task.path)) == {"ledger-head", "next-task"}
    assert os.listdir(outside) == ["file"]
    clear_task(store, TaskId("never"))


def test_the_size_is_what_the_store_takes_on_the_disk(store: SnapshotStore, tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(b"x" * 200_000)
    before = store_size(store)
    files = [path for path in store.root.rglob("*") if path.is_file()]
    assert before == sum(path.stat().st_blocks for path in files) * 512 > 0
    (store.root / "tasks" / "link").symlink_to(tmp_path)  # followed, it would count the file
    (store.root / "tasks" / "file").symlink_to(tmp_path / "large")
    assert store_size(store) - before < 100_000
    for path in (store.root / "tasks/link", store.root / "tasks/file"):
        path.unlink()
    made = store.root / "tasks" / "deep" / "file"
    made.parent.mkdir()
    made.write_bytes(b"x" * 100_000)
    assert store_size(store) == before + made.stat().st_blocks * 512


def test_many_small_packs_are_joined_and_few_are_not(
    store: SnapshotStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stores, "PACKS_BEFORE_TIDYING", 4)
    flushed: list[Path] = []
    monkeypatch.setattr(store_upkeep, "flush_dir", flushed.append)
    large = [blob(store, b"large %d" % number) for number in range(32)]
    pack(store, large)
    small = [blob(store, b"small %d" % number) for number in range(2)]
    for sha in small:
        pack(store, [sha])
    assert (store.packs(), tidy(store)) == (3, False)
    assert (store.packs(), flushed) == (3, [])
    small.append(blob(store, b"another"))
    pack(store, small[2:])
    assert (store.packs(), tidy(store)) == (4, True)
    assert store.packs() == 2  # the large one stays as it is
    assert flushed == [store.objects / "pack"]
    repack(store)
    assert store.packs() == 1
    assert store.present([*large, *small]) == {*large, *small}


def test_packs_of_a_geometric_row_are_not_joined(
    store: SnapshotStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each twice as large as all smaller ones: it costs nothing to leave them."""
    monkeypatch.setattr(stores, "PACKS_BEFORE_TIDYING", 2)
    for count in (1, 2, 20):
        pack(store, [blob(store, b"%d of %d" % (number, count)) for number in range(count)])
    assert tidy(store)
    assert store.packs() == 3
    pack(store, [blob(store, b"one more")])
    assert tidy(store)
    assert store.packs() == 2


def test_a_large_pack_is_no_reason_to_leave_others_when_all_are_joined(
    store: SnapshotStore,
) -> None:
    pack(store, [blob(store, b"%d" % number) for number in range(400)])
    pack(store, [blob(store, b"small")])
    repack(store)
    assert store.packs() == 1


def test_what_is_damaged_is_set_aside_and_the_rest_stays(
    store: SnapshotStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushed: list[Path] = []
    monkeypatch.setattr(store_upkeep, "flush_dir", flushed.append)
    aside = tmp_path / "aside"
    whole, damaged = blob(store, b"whole"), blob(store, b"damaged")
    good, bad, lone = (pack(store, [blob(store, b"packed %d" % n)]) for n in range(3))
    assert set_damaged_objects_aside(store, aside) == []
    assert (aside.exists(), flushed) == (False, [])
    for path, content in (
        (objects.loose_path(store.objects, damaged), zlib.compress(b"blob 3\0abc")),
        (store.objects / f"pack/pack-{bad}.pack", b"PACK"),
        (objects.loose_path(store.objects, damaged).with_name("tmp_obj_1"), b"of a git"),
    ):
        if path.exists():
            path.chmod(0o600)
        path.write_bytes(content)
    (store.objects / f"pack/pack-{lone}.pack").unlink()
    moved = set_damaged_objects_aside(store, aside)
    assert moved[-1] == damaged[2:]
    assert {Path(name).stem for name in moved[:-1]} == {f"pack-{bad}", f"pack-{lone}"}
    assert set(os.listdir(aside)) == {
        f"pack-pack-{bad}.idx",
        f"pack-pack-{bad}.pack",
        f"pack-pack-{lone}.idx",
        f"{damaged[:2]}-{damaged[2:]}",
    }
    assert flushed == [aside]
    assert {path.stem for path in (store.objects / "pack").iterdir()} == {f"pack-{good}"}
    assert objects.loose_path(store.objects, whole).is_file()
    assert objects.loose_path(store.objects, damaged).with_name("tmp_obj_1").is_file()


def descriptors() -> int:
    return len(os.listdir("/dev/fd"))


@pytest.fixture
def tree(tmp_path: Path) -> Iterator[Path]:
    """A directory with others, of which some forbid to change them, and links out of it."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/file").write_bytes(b"x")
    top = tmp_path / "tree"
    (top / "a/b/c").mkdir(parents=True)
    (top / "a/b/file").write_bytes(b"x")
    (top / "z").mkdir()
    (top / "link").symlink_to(tmp_path / "outside")
    (top / "a/lost").symlink_to("nowhere")
    yield top
    for each in (top, *top.rglob("*")):
        with suppress(OSError):
            each.chmod(0o700)


@pytest.mark.parametrize("mode", [0o700, 0o701, 0o500, 0o600, 0o455])
def test_a_tree_is_removed_whatever_its_directories_allow(
    tree: Path, mode: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    allowed: list[int] = []
    change = os.fchmod

    def noted(fd: int, mode: int) -> None:
        allowed.append(mode)
        change(fd, mode)

    monkeypatch.setattr(os, "fchmod", noted)
    for name in ("a/b/c", "a/b", "a", "z"):
        (tree / name).chmod(mode)
    before = descriptors()
    remove_tree(tree)
    assert not tree.exists()
    assert allowed == [mode | 0o700] * (0 if mode & 0o700 == 0o700 else 4)
    assert descriptors() == before
    assert os.listdir(tree.parent / "outside") == ["file"]


def test_a_tree_that_is_not_there_or_a_link_in_its_place(tree: Path) -> None:
    remove_tree(tree / "nothing")
    with pytest.raises(OSError, match=r"directory|symbolic"):
        remove_tree(tree / "link")
    assert os.listdir(tree.parent / "outside") == ["file"]


@pytest.mark.parametrize("failures", [1, 3, 4])
def test_a_tree_in_which_somebody_still_writes_is_tried_four_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failures: int
) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    slept: list[float] = []
    tried: list[int] = []
    remove = stores._remove_below

    def with_another(fd: int) -> None:
        remove(fd)
        if len(tried) < failures:
            (tree / "new").write_bytes(b"")
        tried.append(fd)

    monkeypatch.setattr(stores, "_remove_below", with_another)
    monkeypatch.setattr("siding.record.snapshots.store.time.sleep", slept.append)
    before = descriptors()
    if failures < 4:
        remove_tree(tree)
    else:
        with pytest.raises(OSError, match="not empty"):
            remove_tree(tree)
    assert tree.exists() == (failures == 4)
    assert descriptors() == before
    assert slept == [0.01] * min(failures, 3)
