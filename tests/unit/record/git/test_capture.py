"""A snapshot holds the bytes that are on disk; what it does not hold, its coverage tells."""

import os
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from flushes import Watcher
from privileges import bound_by_permissions
from siding.ground.git.command import Git, Place
from siding.ground.git.errors import SnapshotDamaged, WorkspaceMissing, WorkspaceReplaced
from siding.ground.process.capture import Running
from siding.record.snapshots.coverage import Reason
from siding.record.snapshots.store_upkeep import remove_task, verify_snapshots

from .world import TASK, World, bytes_below, on_disk, write


def test_nothing_changed_is_the_same_snapshot_and_one_process(
    task: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = task.capture()
    caches = tuple(f"tasks/{TASK}/{name}" for name in ("seen", "index"))
    store = bytes_below(task.store.root, without=caches)
    started: list[list[str]] = []
    real = Git.start

    def counting(self: Git, place: Place, arguments: list[str], **more: Any) -> Running:
        started.append(list(arguments))
        return real(self, place, arguments, **more)

    monkeypatch.setattr(Git, "start", counting)
    second = task.capture()
    assert second.snapshot == second.parent == first.snapshot == task.store.tip(TASK)
    assert [arguments[0] for arguments in started] == ["status"]
    assert bytes_below(task.store.root, without=caches) == store


def test_every_kind_of_change_is_recorded(task: World) -> None:
    tree = task.worktree
    write(tree / "a.txt", "changed\n")
    (tree / "src" / "b.txt").unlink()
    write(tree / "new" / "file", b"\0binary\xff")
    write(tree / "empty", b"")
    write(tree / "run.sh", "#!/bin/sh\n")
    (tree / "run.sh").chmod(0o755)
    (tree / "link").symlink_to("nowhere")
    write(tree / "crlf.txt", b"a\r\nb\r\n")
    taken = task.capture()
    assert task.stored(taken.snapshot) == on_disk(tree)
    assert taken.coverage.complete
    assert taken.coverage.sparse == 0
    assert {(c.status, c.path) for c in taken.changes} == {
        ("M", b"a.txt"),
        ("D", b"src/b.txt"),
        ("A", b"new/file"),
        ("A", b"empty"),
        ("A", b"run.sh"),
        ("A", b"link"),
        ("A", b"crlf.txt"),
    }
    assert verify_snapshots(task.store, TASK, contents=True) == 2


def test_packs_are_flushed_where_one_may_be_new(
    task: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    packs = (task.store.objects / "pack").stat()

    def flushes() -> bool:
        watcher = Watcher(monkeypatch)
        before = task.store.tip(TASK)
        assert task.capture().snapshot != before
        return ("fsync", (packs.st_dev, packs.st_ino)) in watcher.calls

    write(task.worktree / "a.txt", "changed\n")
    assert flushes()
    (task.worktree / "src").chmod(0o700)
    assert not flushes()  # permissions are no pack
    task.user("commit", "-qam", "its own", cwd=task.worktree)
    assert flushes()
    write(task.worktree / "a.txt", "staged\n")
    task.user("add", "a.txt", cwd=task.worktree)
    write(task.worktree / "a.txt", "changed\n")
    assert flushes()


def test_a_mode_alone_is_a_change(task: World) -> None:
    (task.worktree / "a.txt").chmod(0o755)
    taken = task.capture()
    assert [(c.old_mode, c.new_mode) for c in taken.changes] == [("100644", "100755")]


@pytest.mark.parametrize("swap", ["file to directory", "directory to file", "directory to link"])
def test_kinds_swapped(task: World, swap: str) -> None:
    tree = task.worktree
    if swap == "file to directory":
        (tree / "a.txt").unlink()
        write(tree / "a.txt" / "inside", "now below\n")
    else:
        (tree / "src").rename(tree / "moved")
        if swap == "directory to file":
            write(tree / "src", "now a file\n")
        else:
            (tree / "src").symlink_to("moved")
    taken = task.capture()
    assert task.stored(taken.snapshot) == on_disk(tree)
    assert task.capture().snapshot == taken.snapshot


def test_h1_an_edit_of_the_same_size_in_the_same_second_is_seen(task: World) -> None:
    path = task.worktree / "a.txt"
    for number in range(20):
        path.write_bytes(b"%03d\n" % number)
        taken = task.capture()
        assert task.stored(taken.snapshot)[b"a.txt"] == ("100644", b"%03d\n" % number)


def test_h1_an_edit_right_after_the_checkout_is_seen(tmp_path: Path) -> None:
    """Of the same size, in the second of the checkout; the index is copied in a later second."""
    for attempt in range(8):
        world = World(tmp_path / str(attempt))
        world.commit({"a.txt": "one\n"})
        time.sleep(1 - time.time() % 1)
        added = world.add()
        path = added.path / "a.txt"
        before = path.stat()
        path.write_bytes(b"ONE\n")
        after = path.stat()
        if int(before.st_mtime) == int(after.st_mtime) == int(after.st_ctime):
            break
    time.sleep(1.1 - time.time() % 1)
    world.begin(world.head(), added.git_dir / "index")
    assert world.stored(world.capture().snapshot)[b"a.txt"] == ("100644", b"ONE\n")


def test_h2_a_nested_repository_without_commits_is_captured(task: World) -> None:
    nested = task.worktree / "nested"
    task.user("init", "-q", str(nested))
    write(nested / "file", "content\n")
    write(nested / "deeper" / "file", "more\n")
    taken = task.capture()
    assert task.stored(taken.snapshot) == on_disk(task.worktree)
    assert taken.coverage.nested == (b"nested",)
    assert not taken.coverage.complete
    assert task.capture().snapshot == taken.snapshot


def test_h3_the_files_of_nested_repositories_are_captured_not_a_gitlink(task: World) -> None:
    nested = task.worktree / "nested"
    inner = nested / "in" / "ner"
    for place in (nested, inner):
        task.user("init", "-q", str(place))
        write(place / ".gitignore", "*.log\n")
        write(place / "out.log", "ignored\n")
        write(place / "file", "content\n")
        task.user("add", "-A", cwd=place)
        task.user("commit", "-qm", "x", cwd=place)
    write(nested / "file", "changed\n")
    taken = task.capture()
    expected = on_disk(task.worktree)
    for name in (b"nested/out.log", b"nested/in/ner/out.log"):
        del expected[name]
    assert task.stored(taken.snapshot) == expected
    assert set(taken.coverage.nested) == {b"nested", b"nested/in/ner"}
    assert set(taken.coverage.ignored) == {b"nested/out.log", b"nested/in/ner/out.log"}
    write(nested / "added", "later\n")
    later = task.capture()
    assert [(c.status, c.path) for c in later.changes] == [("A", b"nested/added")]


def test_an_empty_nested_repository_changes_nothing(task: World) -> None:
    first = task.capture()
    task.user("init", "-q", str(task.worktree / "nested"))
    second = task.capture()
    assert second.snapshot == first.snapshot
    assert second.coverage.nested == (b"nested",)
    assert task.capture().snapshot == first.snapshot


def test_a_git_directory_that_is_none_is_reported(task: World) -> None:
    write(task.worktree / "bogus" / ".git" / "secret", "not seen by git\n")
    write(task.worktree / "bogus" / "file", "seen\n")
    taken = task.capture()
    assert b"bogus/file" in task.stored(taken.snapshot)
    assert taken.coverage.nested == (b"bogus",)
    assert not taken.coverage.complete


def test_submodules_filled_empty_and_removed(world: World, tmp_path: Path) -> None:
    other = World(tmp_path / "other")
    other.commit({"lib.c": "int x;\n"})
    world.user(
        "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other.root), "lib"
    )
    world.user("commit", "-qm", "add a submodule")
    world.start()
    empty = world.capture()
    assert world.stored(empty.snapshot)[b"lib"][0] == "160000"
    assert empty.snapshot == empty.parent
    world.user(
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "update",
        "--init",
        cwd=world.worktree,
    )
    write(world.worktree / "lib" / "new.c", "int y;\n")
    filled = world.capture()
    stored = world.stored(filled.snapshot)
    assert stored == on_disk(world.worktree)
    assert filled.coverage.nested == (b"lib",)
    assert world.capture().snapshot == filled.snapshot
    (world.worktree / "lib").rename(world.directory / "gone")
    removed = world.capture()
    assert world.stored(removed.snapshot) == on_disk(world.worktree)


def test_a_submodule_removed_or_with_nothing_in_it(world: World, tmp_path: Path) -> None:
    other = World(tmp_path / "other")
    sha = other.commit({"lib.c": "int x;\n"})
    world.user("update-index", "--add", "--cacheinfo", f"160000,{sha},lib")
    world.user("commit", "-qm", "a gitlink")
    world.start()
    first = world.capture()
    (world.worktree / "lib").mkdir(exist_ok=True)
    world.user("init", "-q", str(world.worktree / "lib"))
    again = world.capture()
    assert again.snapshot == first.snapshot
    assert world.capture().snapshot == first.snapshot
    (world.worktree / "lib").rename(world.directory / "gone")
    removed = world.capture()
    assert b"lib" not in world.stored(removed.snapshot)
    assert world.capture().snapshot == removed.snapshot
    write(world.worktree / "lib", "now a file\n")
    assert world.stored(world.capture().snapshot)[b"lib"] == ("100644", b"now a file\n")


def test_h4_h5_bytes_are_those_on_disk_whatever_the_configuration(world: World) -> None:
    world.user("config", "filter.lfs.required", "true")
    world.user("config", "filter.lfs.clean", "false")
    world.user("config", "core.autocrlf", "true")
    world.commit({"b.txt": "blob\n"})
    world.start()
    attributes = "*.txt text\n*.bin filter=lfs\n*.c ident\n*.u working-tree-encoding=UTF-16\n"
    write(world.worktree / ".gitattributes", attributes)
    write(world.worktree / "a.txt", b"x\r\ny\r\n")
    write(world.worktree / "big.bin", b"not a pointer")
    write(world.worktree / "id.c", b"$Id: abc $\n")
    write(world.worktree / "u.u", b"\xff\xfeh\0")
    taken = world.capture()
    assert world.stored(taken.snapshot) == on_disk(world.worktree)


@pytest.mark.parametrize(
    "attributes",
    ["*.txt eol=crlf\n", "*.txt text\n", "* text=auto\n", "*.txt ident\n"],
)
@pytest.mark.parametrize("autocrlf", ["false", "true"])
def test_h5_the_first_capture_finds_what_the_checkout_converted(
    world: World, attributes: str, autocrlf: str
) -> None:
    world.commit({"c.txt": "one\n$Id$\n", "sub/.gitattributes": attributes, "sub/d.txt": "$Id$\n"})
    world.commit({".gitattributes": attributes})
    world.user("config", "core.autocrlf", autocrlf)
    world.start()
    taken = world.capture()
    assert world.stored(taken.snapshot) == on_disk(world.worktree)
    assert world.capture().snapshot == taken.snapshot


def test_attributes_that_convert_nothing_keep_the_fast_way(world: World) -> None:
    world.commit({".gitattributes": "* text=auto\n*.md diff=markdown linguist-documentation\n"})
    added = world.start()
    index = world.store.task(TASK).index_file
    assert index.read_bytes() == (added.git_dir / "index").read_bytes()
    assert index.stat().st_mtime_ns == (added.git_dir / "index").stat().st_mtime_ns


def test_h13_pipes_sockets_and_empty_directories_are_reported(task: World) -> None:
    tree = task.worktree
    os.mkfifo(tree / "pipe")
    (tree / "void" / "inner").mkdir(parents=True)
    here = socket.socket(socket.AF_UNIX)
    os.chdir(tree)
    try:
        here.bind("sock")
    finally:
        here.close()
        os.chdir("/")
    name = os.fsencode(tree) + b"/tab\tand\nnewline\xff"
    with open(name, "wb") as file:
        file.write(b"odd")
    taken = task.capture()
    coverage = taken.coverage
    assert set(coverage.special) == {b"pipe", b"sock"}
    assert coverage.empty_dirs == (b"void/inner",)
    assert coverage.complete
    assert task.stored(taken.snapshot)[b"tab\tand\nnewline\xff"] == ("100644", b"odd")


def test_a_pipe_in_place_of_a_tracked_file(task: World) -> None:
    (task.worktree / "a.txt").unlink()
    os.mkfifo(task.worktree / "a.txt")
    taken = task.capture()
    assert b"a.txt" not in task.stored(taken.snapshot)
    assert taken.coverage.special == (b"a.txt",)
    assert task.capture().snapshot == taken.snapshot


def test_too_large_is_left_out_and_said(task: World) -> None:
    write(task.worktree / "big", b"x" * 1001)
    write(task.worktree / "a.txt", b"y" * 1001)
    write(task.worktree / "fits", b"z" * 1000)
    taken = task.capture(max_file_bytes=1000)
    stored = task.stored(taken.snapshot)
    assert b"fits" in stored
    assert not {b"big", b"a.txt"} & set(stored)
    assert [(s.path, s.reason, s.size) for s in taken.coverage.skipped] == [
        (b"a.txt", Reason.TOO_LARGE, 1001),
        (b"big", Reason.TOO_LARGE, 1001),
    ]
    assert not taken.coverage.complete
    again = task.capture(max_file_bytes=1000)
    assert again.snapshot == taken.snapshot
    assert again.coverage.skipped == taken.coverage.skipped
    assert task.stored(task.capture().snapshot) == on_disk(task.worktree)


def test_unreadable_is_left_out_and_said(task: World) -> None:
    write(task.worktree / "secret", "x")
    (task.worktree / "secret").chmod(0)
    write(task.worktree / "fine", "y")
    taken = bound_by_permissions(task.capture)
    (task.worktree / "secret").chmod(0o600)
    assert b"fine" in task.stored(taken.snapshot)
    assert [(s.path, s.reason, s.size) for s in taken.coverage.skipped] == [
        (b"secret", Reason.UNREADABLE, 1)
    ]
    assert not taken.coverage.complete


def test_a_directory_that_cannot_be_looked_into_is_said(task: World) -> None:
    write(task.worktree / "locked/inside", "x")
    (task.worktree / "locked").chmod(0)
    taken = bound_by_permissions(task.capture)
    (task.worktree / "locked").chmod(0o700)
    assert b"locked/inside" not in task.stored(taken.snapshot)
    assert (b"locked", Reason.UNREADABLE) in [(s.path, s.reason) for s in taken.coverage.skipped]
    assert not taken.coverage.complete


def test_names_that_git_refuses_are_said(task: World) -> None:
    write(task.worktree / "dir" / ".GIT" / "config", "x")
    (task.worktree / ".gitmodules").symlink_to("a.txt")
    write(task.worktree / "fine", "y")
    taken = task.capture()
    assert b"fine" in task.stored(taken.snapshot)
    assert [s.path for s in taken.coverage.skipped] == [b".gitmodules", b"dir/.GIT/config"]
    assert task.capture().snapshot == taken.snapshot


def test_ignored_files_are_counted_and_captured_when_configured(task: World) -> None:
    tree = task.worktree
    write(tree / ".gitignore", "*.log\n/build/\n.env\n")
    write(tree / "x.log", "log")
    write(tree / ".env", "SECRET=1")
    write(tree / "sub" / ".env", "SECRET=2")
    write(tree / "build" / "out.bin", b"\0")
    write(tree / "build" / "deep" / "model.bin", b"\1")
    taken = task.capture()
    assert set(taken.coverage.ignored) == {b"x.log", b".env", b"build", b"sub/.env"}
    assert taken.coverage.ignored_count == 4
    assert taken.coverage.complete
    some = task.capture(ignored=(".env", "build/deep/"))
    stored = task.stored(some.snapshot)
    assert {b".env", b"sub/.env", b"build/deep/model.bin"} <= set(stored)
    assert not {b"x.log", b"build/out.bin"} & set(stored)
    assert set(some.coverage.ignored) == {b"x.log", b"build/out.bin"} or set(
        some.coverage.ignored
    ) == {b"x.log", b"build"}
    everything = task.capture(ignored=("**",))
    assert task.stored(everything.snapshot) == on_disk(tree)
    assert everything.coverage.ignored == ()
    assert task.capture(ignored=("**",)).snapshot == everything.snapshot


def test_the_users_own_ignore_patterns_count(world: World) -> None:
    write(world.home / ".config" / "git" / "ignore", "*.swp\n")
    write(world.root / ".git" / "info" / "exclude", "scratch/\n")
    world.start()
    write(world.worktree / "a.swp", "x")
    write(world.worktree / "scratch" / "x", "x")
    write(world.worktree / "b", "x")
    taken = world.capture()
    assert [c.path for c in taken.changes] == [b"b"]
    assert set(taken.coverage.ignored) == {b"a.swp", b"scratch"}


def test_many_new_files(task: World) -> None:
    for number in range(1500):
        write(task.worktree / f"d{number % 40}" / f"f{number}", f"{number}\n")
    taken = task.capture()
    assert task.stored(taken.snapshot) == on_disk(task.worktree)
    assert not any(path.name != "pack" for path in (task.store.objects).glob("[0-9a-f][0-9a-f]/x"))
    assert task.store.packs() == 1


def test_a_big_file_goes_through_in_bounded_memory(task: World) -> None:
    with open(task.worktree / "big", "wb") as file:
        file.writelines(bytes([number]) * (1 << 20) for number in range(48))
    taken = task.capture(max_file_bytes=1 << 30)
    body = task.stored(taken.snapshot)[b"big"][1]
    assert body == (task.worktree / "big").read_bytes()


@pytest.mark.parametrize("what", ["link", "other directory", "file", "gone"])
def test_a_replaced_root_is_refused(task: World, what: str) -> None:
    before = task.store.tip(TASK)
    aside = task.directory / "aside"
    task.worktree.rename(aside)
    if what == "link":
        task.worktree.symlink_to(aside)
    elif what == "other directory":
        task.worktree.mkdir()
    elif what == "file":
        write(task.worktree, "x")
    expected = WorkspaceMissing if what == "gone" else WorkspaceReplaced
    with pytest.raises(expected):
        task.capture()
    assert task.store.tip(TASK) == before


def test_locks_of_a_dead_git_are_in_nobodys_way(task: World) -> None:
    directory = task.store.task(TASK).path
    write(directory / "index.lock", b"half")
    write(task.store.root / "refs" / "tasks" / f"{TASK}.lock", b"half")
    write(task.worktree / "new", "x")
    assert task.stored(task.capture().snapshot) == on_disk(task.worktree)
    assert task.store.tasks() == [TASK]


@pytest.mark.parametrize("damage", ["missing", "empty", "torn", "zeros", "other"])
def test_a_damaged_index_is_made_again(task: World, damage: str) -> None:
    write(task.worktree / "new", "x")
    first = task.capture()
    index = task.store.task(TASK).index_file
    data = index.read_bytes()
    if damage == "missing":
        index.unlink()
    else:
        bad = {"empty": b"", "torn": data[:-30], "zeros": bytes(len(data)), "other": b"{}\n"}
        index.write_bytes(bad[damage])
    write(task.worktree / "later", "y")
    taken = task.capture()
    assert taken.parent == first.snapshot
    assert task.stored(taken.snapshot) == on_disk(task.worktree)
    assert verify_snapshots(task.store, TASK, contents=True) == 3


def test_objects_lost_before_they_were_stored_are_read_again(task: World) -> None:
    """A capture died after the index was written: it names blobs that are nowhere."""
    from siding.record.snapshots.capture import CaptureWork
    from siding.record.snapshots.changes import CaptureLimits
    from siding.record.snapshots.status_look import CaptureRequest
    from siding.record.snapshots.store import remove_tree

    write(task.worktree / "new", "x")
    write(task.worktree / "a.txt", "changed")
    request = CaptureRequest(
        task_id=TASK,
        root=task.where,
        git_dir=task.git_dir,
        branch=task.branch,
        step="0001",
        kind="run",
        at=0,
        limits=CaptureLimits(max_file_bytes=1 << 20),
    )
    CaptureWork(task.store, request).present_tree()
    remove_tree(task.store.task(TASK).incoming)
    taken = task.capture()
    assert task.stored(taken.snapshot) == on_disk(task.worktree)
    assert verify_snapshots(task.store, TASK, contents=True) == 2


def test_a_task_that_was_never_begun(world: World) -> None:
    world.start()
    remove_task(world.store, TASK)
    with pytest.raises(SnapshotDamaged):
        world.capture()


def test_sha256_repositories(tmp_path: Path) -> None:
    world = World(tmp_path / "w", object_format="sha256")
    world.commit({"a": "x\n"})
    world.start()
    write(world.worktree / "b", "y\n")
    taken = world.capture()
    assert len(taken.snapshot) == 64
    assert world.stored(taken.snapshot) == on_disk(world.worktree)
    assert verify_snapshots(world.store, TASK, contents=True) == 2


def test_odd_places(tmp_path: Path) -> None:
    world = World(tmp_path / 'a: "b\\ c\nd\u00e9')
    world.commit({"a": "x\n"})
    world.start()
    write(world.worktree / "b", "y\n")
    assert world.stored(world.capture().snapshot) == on_disk(world.worktree)
    assert verify_snapshots(world.store, TASK) == 2


def test_peeking_tells_and_leaves_no_trace(task: World) -> None:
    from siding.record.snapshots.changes import CaptureLimits
    from siding.record.snapshots.patches import diff_trees
    from siding.record.snapshots.peek import peek
    from siding.record.snapshots.status_look import CaptureRequest, changed_count

    tip = task.capture().snapshot
    write(task.worktree / "new", "x")
    (task.worktree / "a.txt").unlink()
    request = CaptureRequest(
        task_id=TASK,
        root=task.where,
        git_dir=task.git_dir,
        branch=task.branch,
        step="",
        kind="look",
        at=0,
        limits=CaptureLimits(max_file_bytes=1 << 20),
    )
    before = bytes_below(task.store.root)
    assert changed_count(task.store, request) == 2
    with peek(task.store, request, unique="u1") as found:
        names = {c.path for c in diff_trees(found.store, tip, found.tree)}
    assert names == {b"new", b"a.txt"}
    assert bytes_below(task.store.root) == before


def test_directories_that_were_seen_are_looked_at_again_when_they_change(task: World) -> None:
    """The memory of the scan is trusted only for what nobody has touched since."""
    tree, memory = task.worktree, task.store.task(TASK).seen
    assert task.capture().coverage.empty_dirs == ()
    for _ in range(2):
        (tree / "src" / "void").mkdir()
        os.mkfifo(tree / "src" / "deep" / "pipe")
        coverage = task.capture().coverage
        assert (coverage.empty_dirs, coverage.special) == ((b"src/void",), (b"src/deep/pipe",))
        (tree / "src" / "void").rmdir()
        (tree / "src" / "deep" / "pipe").unlink()
        assert task.capture().coverage.empty_dirs == ()
    for damage in (b"", b"x", memory.read_bytes()[:-3], b"\xe9\0\0\0\0"):
        memory.write_bytes(damage)
        (tree / "void").mkdir(exist_ok=True)
        assert task.capture().coverage.empty_dirs == (b"void",)
