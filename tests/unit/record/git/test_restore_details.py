"""What each part of a restoration does by itself: its plan, what stands in its way, its staging."""

import errno
import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from flushes import Watcher
from siding.ground.files.exchange import Entry, put
from siding.ground.git.command import Git
from siding.ground.git.errors import GitError
from siding.ground.git.treewalk import OpenTree
from siding.ground.ids import Sha
from siding.record.files import plan as emptying
from siding.record.files.displaced import (
    DISPLACED,
    KEPT,
    drop_recorded,
    keep_unrecorded,
    read_names,
)
from siding.record.files.links import Blob, linking, with_links
from siding.record.files.obstacles import changed_since, obstacles, of_others
from siding.record.files.plan import LeftPath, Restoration, Why, plan_restoration
from siding.record.files.restore import Journal, _remove_empty, prune, restore
from siding.record.files.staging import staged
from siding.record.snapshots.mode_changes import ModeChange
from siding.record.snapshots.modes import Bare, Links, Modes, Usual
from siding.record.snapshots.patches import Change, diff_trees

from .world import World, write

NONE, FILE, EXECUTABLE, GITLINK = "000000", "100644", "100755", "160000"
SLACK_NS = 20_000_000
ONE, TWO = Sha("1" * 40), Sha("2" * 40)


def change(path: bytes, old: str, new: str) -> Change:
    none = Sha("0" * 40)
    return Change("M", path, old, new, none if old == NONE else ONE, none if new == NONE else TWO)


def go(world: World, plan: Restoration) -> None:
    with staged(world.store, world.where, plan, world.directory / "staging") as contents:
        restore(world.where, plan, contents)


def back(world: World, **more: object) -> Restoration:
    """The plan from what is there now to the task's base."""
    base = world.store.tip("task2345")  # type: ignore[arg-type]
    assert base is not None
    changes = diff_trees(world.store, world.capture().snapshot, base)
    return plan_restoration(changes, **more)  # type: ignore[arg-type]


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


def failing(number: int) -> Callable[..., None]:
    def fails(_path: bytes, *, dir_fd: int | None = None) -> None:
        raise OSError(number, f"the disk fails, {dir_fd}")

    return fails


# The plan.


def test_directories_are_the_empty_ones_and_those_of_submodules() -> None:
    changes = [
        change(b"in/lib", FILE, GITLINK),
        change(b"in/f", NONE, FILE),
        change(b"out/lib", NONE, GITLINK),
    ]
    plan = plan_restoration(changes, directories=[b"in/void", b"out/void"], paths=[b"in"])
    assert plan.directories == (b"in/lib", b"in/void")


def test_permissions_change_where_nothing_is_written_or_left() -> None:
    def mode(path: bytes, *, directory: bool = False) -> ModeChange:
        return ModeChange(path, 0o700, 0o750, directory)

    wanted = [
        mode(b"in", directory=True),
        mode(b"in/a"),
        mode(b"in/unknown there", directory=True),
    ]
    others = [mode(b"in/written"), mode(b"in/left"), mode(b"in/unknown"), mode(b"out")]
    plan = plan_restoration(
        [change(b"in/written", FILE, FILE), change(b"in/left", FILE, NONE)],
        unknown=[b"in/unknown", b"in/unknown there"],
        ignored=[b"in/left"],
        paths=[b"in"],
        mode_changes=[*wanted, *others],
    )
    assert list(plan.chmods) == wanted


# What stands in the way.


def test_files_below_a_directory_where_a_file_shall_be(task: World) -> None:
    root = task.worktree
    for name in ("d/recorded", "d/deep/mine"):
        write(root / name, "x")
    (root / "d/link").symlink_to("deep")
    plan = plan_restoration([change(b"d", NONE, FILE), change(b"d/recorded", FILE, NONE)])
    assert obstacles(task.where, plan, "sha1") == [b"d/deep/mine", b"d/link"]


def test_where_nothing_is_nothing_is_in_the_way(task: World) -> None:
    plan = plan_restoration([change(b"new", NONE, FILE), change(b"no/where", FILE, FILE)])
    assert obstacles(task.where, plan, "sha1") == []


def test_a_file_where_a_directory_shall_be(task: World) -> None:
    for name in ("mine", "recorded"):
        write(task.worktree / name, "x")
    changes = [
        change(b"mine/deep/x", NONE, FILE),
        change(b"recorded/deep/y", NONE, FILE),
        change(b"recorded", FILE, NONE),
        change(b"a.txt", FILE, FILE),  # what is there is recorded, whatever it is
    ]
    assert obstacles(task.where, plan_restoration(changes), "sha1") == [b"mine"]


def test_only_the_owner_changes_permissions(task: World, monkeypatch: pytest.MonkeyPatch) -> None:
    names = (b"a.txt", b"gone", b"src/b.txt")
    plan = Restoration((), (), (), (), chmods=tuple(ModeChange(p, 1, 2, False) for p in names))
    os.chown(task.worktree / "a.txt", os.geteuid(), -1)
    assert of_others(task.where, plan) == []
    owner = (task.worktree / "a.txt").stat().st_uid
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    assert of_others(task.where, plan) == [b"a.txt", b"src/b.txt"]


def test_root_may_change_everybodys_permissions(
    task: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = task.worktree / "a.txt"
    if os.getuid() == 0:
        os.chown(path, 1, 1)
    chmods = (ModeChange(b"a.txt", 0o600, 0o644, False), ModeChange(b"gone", 0o600, 0o644, False))
    plan = Restoration((), (), (), (), chmods=chmods)
    owner = path.stat().st_uid
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    assert of_others(task.where, plan) == [b"a.txt"]
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert of_others(task.where, plan) == []


def test_of_what_is_gone_there_is_nothing_to_lose(task: World) -> None:
    plan = Restoration((change(b"gone", FILE, FILE), change(b"a.txt/x", FILE, NONE)), (), (), ())
    assert changed_since(task.where, plan, "sha1", 0) == []


def test_what_was_nothing_before_cannot_differ_from_it(task: World) -> None:
    plan = Restoration((change(b"a.txt", NONE, FILE), change(b"src/b.txt", FILE, FILE)), (), (), ())
    assert changed_since(task.where, plan, "sha1", 0) == [b"src/b.txt"]


def test_what_was_removed_can_be_made_again(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    with OpenTree(tmp_path) as tree:
        tree.open(b"d")
        assert _remove_empty(tree, b"d", Journal(tree)) == {b""}
        tree.make(b"d/e")
    assert (tmp_path / "d/e").is_dir()


def test_what_changed_since_a_moment_is_read_again(task: World) -> None:
    root = task.worktree
    plan = plan_restoration([change(b"a.txt", FILE, FILE)])
    at = (root / "a.txt").stat().st_ctime_ns
    assert changed_since(task.where, plan, "sha1", at + SLACK_NS) == [b"a.txt"]
    assert changed_since(task.where, plan, "sha1", at + SLACK_NS + 1) == []
    (root / "a.txt").unlink()
    assert changed_since(task.where, plan, "sha1", at) == []
    (root / "a.txt").mkdir()
    assert changed_since(task.where, plan, "sha1", at) == []


# What is left empty.


def test_what_has_become_empty_is_pruned(tmp_path: Path) -> None:
    (tmp_path / "a/b/c").mkdir(parents=True)
    (tmp_path / "full/of").mkdir(parents=True)
    with OpenTree(tmp_path) as tree:
        touched = {b"a/b/c", b"full", b""}
        prune(tree, touched, keep=[b"a"])
        assert touched == {b"", b"a", b"full"}
        with pytest.raises(FileNotFoundError):
            tree.open(b"a/b")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "full"]
    assert [*(tmp_path / "a").iterdir()] == []


def test_a_disk_that_fails_is_not_taken_for_a_full_directory(
    task: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    (task.worktree / "void").mkdir()

    write(task.worktree / "a.txt", "changed\n")
    plan = back(task)
    monkeypatch.setattr(os, "rmdir", failing(errno.EIO))
    with OpenTree(task.worktree) as tree, pytest.raises(OSError, match="the disk fails"):
        prune(tree, {b"void"}, keep=())
    with OpenTree(task.worktree) as tree, pytest.raises(OSError, match="the disk fails"):
        _remove_empty(tree, b"void", Journal(tree))
    with pytest.raises(OSError, match="the disk fails"):
        go(task, plan)


def test_only_directories_that_were_not_there_are_taken_away(task: World) -> None:
    root = task.worktree
    names = (
        *("all/void", "file/x", "fill/in", "half/void", "hid/in", "known", "link/void"),
        *("new/deep", "src/void", "sub/void", "elsewhere"),
    )
    for name in names:
        (root / name).mkdir(parents=True)
    for name in ("half/in/mine", "all/gone", "sub/in/gone", "was", "taken"):
        write(root / name, "x")
    (root / "link/to").symlink_to("../elsewhere")
    changes = [
        change(b"all/gone", FILE, NONE),
        change(b"file", NONE, FILE),
        change(b"fill/in/f", NONE, FILE),
        change(b"sub/in/gone", FILE, NONE),
        change(b"was", FILE, NONE),
    ]
    wanted = [b"elsewhere", b"known", b"missing", b"taken", b"was"]
    plan = plan_restoration(changes, directories=wanted)
    now = Bare(empty=tuple(os.fsencode(name) for name in names))
    then = Bare(empty=tuple(wanted), unknown=(b"hid",))

    def planned(*paths: bytes, now: Bare | None = now, then: Bare | None = then) -> Restoration:
        return emptying.with_directories(task.where, plan, changes, now, then, paths)

    found = planned()
    assert found.made == (b"missing", b"was")
    assert found.removed == (
        *(b"sub/void", b"sub", b"src/void", b"new/deep", b"new", b"link/void"),
        *(b"half/void", b"file/x", b"all/void", b"all"),
    )
    assert planned(b"new/deep").removed == (b"new/deep",)
    assert planned(now=None).removed == planned(then=None).removed == ()
    assert b"src/void" not in planned(now=now._replace(unknown=(b"src",))).removed
    left = emptying.leaving(found, {b"new/deep"})
    assert set(found.removed) - set(left.removed) == {b"new/deep", b"new"}
    assert left.left == (LeftPath(b"new/deep", Why.IN_USE),)
    assert emptying.not_as_planned(task.where, found) == {*found.removed, b"missing"}


def test_a_directory_that_cannot_be_looked_into_stays(
    task: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    (task.worktree / "new/deep").mkdir(parents=True)

    def refused(_path: bytes) -> None:
        raise PermissionError(errno.EACCES, "no")

    monkeypatch.setattr(os, "scandir", refused)
    plan, now = Restoration((), (), (), ()), Bare(empty=(b"new/deep",))
    found = emptying.with_directories(task.where, plan, [], now, Bare(), ())
    assert found.removed == (b"new/deep",)


def test_what_is_empty_in_that_moment_is_removed_durably(
    task: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    src = task.worktree / "src"
    for name in ("void", "full/in", "other"):
        (src / name).mkdir(parents=True)
    (src / "other").rmdir()
    write(src / "other", "a file now\n")
    plan = Restoration((), (), (), (), removed=(b"src/void", b"src/other", b"src/full", b"gone"))
    with staged(task.store, task.where, plan, task.directory / "staging") as contents:
        watcher = Watcher(monkeypatch)
        restore(task.where, plan, contents)
        unflushed = {inode for _name, inode in watcher.unflushed()}
    assert watcher.calls
    assert (src.stat().st_dev, src.stat().st_ino) not in unflushed
    assert sorted(path.name for path in src.iterdir()) == ["b.txt", "deep", "full", "other"]


def test_a_mount_point_stays(task: World, monkeypatch: pytest.MonkeyPatch) -> None:
    (task.worktree / "void").mkdir()
    with monkeypatch.context() as patch:
        patch.setattr(os, "rmdir", failing(errno.EBUSY))
        with OpenTree(task.worktree) as tree:
            assert _remove_empty(tree, b"void", Journal(tree)) == set()
    assert (task.worktree / "void").is_dir()


# Staging.


def test_directories_that_forbid_writing_do_so_afterwards(
    task: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []

    def put_and_look(new: Entry, place: Entry) -> bool:
        seen.append(stat.S_IMODE(os.fstat(place.directory).st_mode))
        return put(new, place)

    monkeypatch.setattr("siding.record.files.restore.put", put_and_look)
    write(task.worktree / "src/b.txt", "changed\n")
    plan = back(task)
    (task.worktree / "src").chmod(0o555)
    go(task, plan)
    assert seen == [0o755]
    assert mode_of(task.worktree / "src") == 0o555
    assert (task.worktree / "src/b.txt").read_bytes() == b"two\n"


def test_what_is_made_gets_its_recorded_permissions(task: World) -> None:
    src = task.worktree / "src"
    shutil.rmtree(src)
    modes = Modes(Usual(directory=0o750), {}, {b"src": 0o2711})
    go(task, back(task)._replace(modes=modes))
    assert (mode_of(src), mode_of(src / "deep")) == (0o2711, 0o750)


def test_permissions_are_set_from_the_deepest_path_up_and_flushed(
    task: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, during, order = task.worktree, list[int](), list[bytes]()
    flushed: list[tuple[int, int]] = []
    really, sync = OpenTree.set_mode, os.fsync

    def put_and_look(new: Entry, place: Entry) -> bool:
        during.append(stat.S_IMODE(os.fstat(place.directory).st_mode))
        return put(new, place)

    def set_mode(tree: OpenTree, path: bytes, mode: int) -> None:
        order.append(path)
        really(tree, path, mode)

    def fsync(fd: int) -> None:
        flushed.append((os.fstat(fd).st_ino, stat.S_IMODE(os.fstat(fd).st_mode)))
        sync(fd)

    write(root / "src/b.txt", "changed\n")
    plan = back(task)
    for name in ("src", "src/deep"):
        (root / name).chmod(0o755)
    chmods = (
        ModeChange(b"src", 0o755, 0o550, True),
        ModeChange(b"src/deep", 0o755, 0o711, True),
        ModeChange(b"src/deep/c.txt", 0o644, 0o600, False),
    )
    monkeypatch.setattr("siding.record.files.restore.put", put_and_look)
    monkeypatch.setattr(OpenTree, "set_mode", set_mode)
    monkeypatch.setattr(os, "fsync", fsync)
    go(task, plan._replace(chmods=chmods))
    assert during == [0o750]  # others lose theirs before a file is put into it, we in the end
    assert [path for path in order[2:] if path != b"src/deep"] == [b"src/deep/c.txt", b"src"]
    assert ((root / "src/deep/c.txt").stat().st_ino, 0o600) in flushed
    assert mode_of(root / "src") == 0o550


def test_without_recorded_permissions_what_is_made_is_as_usual(task: World) -> None:
    usual = mode_of(task.worktree / "src")
    shutil.rmtree(task.worktree / "src")
    go(task, back(task))
    assert mode_of(task.worktree / "src") == mode_of(task.worktree / "src/deep") == usual


def test_a_file_keeps_the_permissions_of_the_one_it_replaces(task: World) -> None:
    root = task.worktree
    write(root / "run", "one\n")
    (root / "run").chmod(0o751)
    first = task.capture().snapshot
    write(root / "run", "two\n")
    usual = mode_of(root / "a.txt")
    (root / "a.txt").write_text("changed\n")
    (root / "a.txt").chmod(0o755)
    (root / "src/b.txt").unlink()
    (root / "src/b.txt").symlink_to("nowhere")
    go(task, plan_restoration(diff_trees(task.store, task.capture().snapshot, first)))
    assert (root / "run").read_text() == "one\n"
    assert mode_of(root / "run") == 0o751
    assert mode_of(root / "a.txt") == 0o644
    assert mode_of(root / "src/b.txt") == usual


def test_in_the_worktree_of_another_user_no_rights_of_ours_are_lent(
    task: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(task.worktree / "a.txt", "changed\n")
    plan = back(task)._replace(modes=Modes(Usual(), {b"a.txt": 0o6755}, {}))
    place = task.directory / "staging"
    with staged(task.store, task.where, plan, place):
        assert mode_of(place / "0") == 0o6755
    owner = task.worktree.stat().st_uid
    with monkeypatch.context() as patch:
        patch.setattr(os, "geteuid", lambda: owner + 1)
        with staged(task.store, task.where, plan, place):
            assert mode_of(place / "0") == 0o755


def test_staging_leaves_no_file_open(task: World) -> None:
    write(task.worktree / "a.txt", "changed\n")
    plan = back(task)
    before = open_files()
    go(task, plan)
    assert open_files() == before


@pytest.mark.parametrize("size", [0, 1, -3])
def test_contents_that_end_too_early_change_nothing(
    task: World, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    write(task.worktree / "a.txt", "changed\n")
    plan = back(task)
    really = Git.run_to_fd

    def cut(*arguments: object, stdout: int, **more: object) -> None:
        really(*arguments, stdout=stdout, **more)  # type: ignore[arg-type]
        os.ftruncate(stdout, size if size >= 0 else os.fstat(stdout).st_size + size)

    monkeypatch.setattr(Git, "run_to_fd", cut)
    with pytest.raises((GitError, OSError), match=r"lacks|end too early"):
        go(task, plan)
    assert (task.worktree / "a.txt").read_text() == "changed\n"
    assert not (task.directory / "staging").exists()


@pytest.mark.parametrize(("number", "falls_back"), [(errno.EMLINK, True), (errno.EIO, False)])
def test_files_that_cannot_be_linked_are_copied(
    task: World, monkeypatch: pytest.MonkeyPatch, number: int, *, falls_back: bool
) -> None:
    root = task.worktree
    for name in ("x", "y"):
        write(root / name, "same\n")
    first = task.capture().snapshot
    for name in ("x", "y"):
        (root / name).unlink()
    plan = plan_restoration(diff_trees(task.store, task.capture().snapshot, first))
    plan = plan._replace(links=((b"x", b"y"),))

    def refused(*_paths: bytes, **_more: object) -> None:
        raise OSError(number, "no link")

    monkeypatch.setattr(os, "link", refused)
    if falls_back:
        go(task, plan)
        assert (root / "y").read_text() == "same\n"
        return
    with pytest.raises(OSError, match="no link"):
        go(task, plan)
    assert not (root / "y").exists()


def test_three_names_of_a_file_and_what_follows_them(task: World) -> None:
    root = task.worktree
    write(root / "l1", "linked\n")
    os.link(root / "l1", root / "l2")
    os.link(root / "l1", root / "l3")
    write(root / "z", "behind\n")
    first = task.capture()
    assert first.modes is not None
    for name in ("l1", "l2", "l3", "z"):
        (root / name).unlink()
    changes = diff_trees(task.store, task.capture().snapshot, first.snapshot)
    plan = plan_restoration(changes, modes=first.modes)
    go(task, with_links(task.store, plan, (), first.snapshot, ()))
    assert len({(root / name).stat().st_ino for name in ("l1", "l2", "l3")}) == 1
    assert (root / "l3").read_text() == "linked\n"
    assert (root / "z").read_text() == "behind\n"


# Links.


def planned(
    links: Links,
    now: Links = (),
    *,
    files: dict[bytes, Blob],
    left: tuple[bytes, ...] = (),
    chmods: tuple[ModeChange, ...] = (),
    paths: tuple[bytes, ...] = (),
) -> Restoration:
    plan = Restoration(
        (),
        (),
        tuple(LeftPath(path, Why.IGNORED) for path in left),
        (),
        chmods=chmods,
        modes=Modes(Usual(), {}, {}, links),
    )
    return linking(plan, now, files, paths)


def test_only_what_may_be_touched_and_is_the_same_is_linked() -> None:
    same, other = Blob(FILE, ONE), Blob(FILE, TWO)
    group = ((b"a", b"b"),)
    assert planned(group, files={b"a": same, b"b": same}).links == group
    for plan in (
        planned(group, files={b"a": same}),
        planned(group, files={b"a": same, b"b": other}),
        planned(group, files={b"a": same, b"b": same}, left=(b"b",)),
        planned(group, files={b"a": same, b"b": same}, paths=(b"a",)),
    ):
        assert (plan.links, plan.writes) == ((), ())


def test_links_made_since_are_parted(task: World) -> None:
    first = task.capture()
    assert first.modes is not None
    os.link(task.worktree / "a.txt", task.worktree / "b.txt")
    os.link(task.worktree / "src/b.txt", task.worktree / "src/c.txt")
    second = task.capture()
    assert second.modes is not None
    os.unlink(task.worktree / "b.txt")
    write(task.worktree / "b.txt", "one\n")
    third = task.capture()
    changes = diff_trees(task.store, second.snapshot, third.snapshot)
    none = second.modes._replace(links=())
    plan = with_links(
        task.store,
        plan_restoration(changes, modes=none),
        second.modes.links or (),
        third.snapshot,
        (),
    )
    assert [each.path for each in plan.writes] == [b"b.txt", b"src/c.txt"]


def test_what_may_not_be_touched_keeps_its_links() -> None:
    same = Blob(FILE, ONE)
    files = {b"a": same, b"b": same}
    now = ((b"a", b"b"),)
    assert [each.path for each in planned((), now, files=files).writes] == [b"b"]
    assert planned((), now, files=files, left=(b"b",)).writes == ()
    assert planned((), now, files=files, paths=(b"a",)).writes == ()


def test_a_plan_without_permissions_has_no_links(task: World) -> None:
    plan = plan_restoration([])
    tip = task.capture().snapshot
    assert with_links(task.store, plan, ((b"a.txt", b"b.txt"),), tip, ()) == plan


def test_the_last_file_of_a_tree_is_linked_too(task: World) -> None:
    root = task.worktree
    os.link(root / "a.txt", root / "zz")
    first = task.capture()
    assert first.modes is not None
    (root / "zz").unlink()
    changes = diff_trees(task.store, task.capture().snapshot, first.snapshot)
    plan = plan_restoration(changes, modes=first.modes)
    go(task, with_links(task.store, plan, (), first.snapshot, ()))
    assert (root / "zz").stat().st_ino == (root / "a.txt").stat().st_ino


def test_permissions_of_a_file_that_is_written_come_with_it() -> None:
    same = Blob(FILE, ONE)
    chmods = (
        ModeChange(b"a", 0o600, 0o644, False),
        ModeChange(b"b", 0o700, 0o755, True),
        ModeChange(b"c", 0o600, 0o644, False),
    )
    plan = planned(((b"a", b"b"),), files={b"a": same, b"b": same}, chmods=chmods)
    assert [each.path for each in plan.chmods] == [b"b", b"c"]


# What was displaced.


def displaced(world: World) -> Path:
    """The place of what a restoration of two files and a deletion displaced."""
    write(world.worktree / "a.txt", "changed\n")
    write(world.worktree / "src/b.txt", "changed, too\n")
    plan = back(world)
    place = world.directory / "place" / DISPLACED
    place.parent.mkdir()
    with staged(world.store, world.where, plan, place) as contents:
        write(world.worktree / "src/b.txt", "hers\n")
        restore(world.where, plan, contents)
    return place


def test_what_is_kept_is_its_owners_alone(task: World) -> None:
    place = displaced(task)
    assert [each.path for each in keep_unrecorded(place, "sha1")] == [b"src/b.txt"]
    assert mode_of(place / KEPT) == mode_of(place / KEPT / "src") == 0o700
    entry = next(iter(read_names(place)))
    (place / os.fsdecode(entry)).write_bytes(b"hers once more\n")
    assert len(keep_unrecorded(place, "sha1")) == 1


def test_only_what_the_snapshots_hold_is_dropped(task: World) -> None:
    place = displaced(task)
    names = read_names(place)
    recorded = {each.path: each for each in names.values()}[b"a.txt"]
    entry = place / os.fsdecode(recorded.entry)
    assert drop_recorded(place, "sha1", {recorded.sha}) == 0
    assert entry.exists()
    size = entry.stat().st_blocks * 512
    held = {sha for each in names.values() for sha in (each.sha, each.new_sha)}
    assert drop_recorded(place, "sha1", held) == size > 0
    assert not entry.exists()
    left = [path for path in place.iterdir() if path.name != "names"]
    assert [path.read_bytes() for path in left] == [b"hers\n"]
