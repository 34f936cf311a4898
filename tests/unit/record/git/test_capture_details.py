"""What a snapshot says besides the files: permissions, directories, git; and when it fails."""

import os
import shutil
from pathlib import Path

import pytest

from siding.ground.git import objects, refs
from siding.ground.git.errors import CommandFailed, SnapshotFailed
from siding.record.snapshots import mode_look
from siding.record.snapshots.capture import Capture, capture
from siding.record.snapshots.changes import CaptureLimits
from siding.record.snapshots.coverage import Reason, Skipped
from siding.record.snapshots.git_state import state_in
from siding.record.snapshots.mode_changes import bare_changes, modes_of, parse
from siding.record.snapshots.modes import Bare, Modes, Usual, bare_directories, differ, named_in
from siding.record.snapshots.status_look import CaptureRequest
from siding.record.snapshots.tree_look import PrivateIndex

from .world import MEGABYTE, TASK, World, write


def named(world: World, taken: Capture) -> str | None:
    return named_in(world.store.read_commit(taken.snapshot))


def request_of(world: World, kind: str, *, git_dir: Path | None) -> CaptureRequest:
    return CaptureRequest(
        task_id=TASK,
        root=world.where,
        git_dir=git_dir,
        branch=world.branch,
        step=kind,
        kind=kind,
        at=1_700_000_000,
        limits=CaptureLimits(MEGABYTE),
    )


def base_of(world: World) -> Capture:
    return capture(world.store, request_of(world, "base", git_dir=world.git_dir))


def test_the_base_is_made_anew_with_its_permissions_once(task: World) -> None:
    first = base_of(task)
    assert first.snapshot != first.parent
    assert named(task, first) is not None
    again = base_of(task)
    assert again.snapshot == again.parent == first.snapshot


def test_snapshots_of_equal_permissions_share_them(task: World) -> None:
    base = base_of(task)
    write(task.worktree / "a.txt", "two\n")
    second = task.capture()
    assert named(task, second) == named(task, base) is not None
    (task.worktree / "a.txt").chmod(0o600)
    third = task.capture()
    found = modes_of(task.store, third.snapshot)
    assert found is not None
    assert found.files == {b"a.txt": 0o600}
    assert named(task, third) != named(task, base)


def test_permissions_that_were_recorded_once_are_found_again(task: World) -> None:
    """The cache may be of the snapshot before: a capture was killed before it wrote the new one."""
    base = base_of(task)
    cache = task.store.task(TASK).modes
    shutil.copy2(cache, task.directory / "cache")
    before = (task.worktree / "a.txt").stat().st_mode
    (task.worktree / "a.txt").chmod(0o600)
    changed = task.capture()
    (task.worktree / "a.txt").chmod(before & 0o7777)
    shutil.copy2(task.directory / "cache", cache)
    back = task.capture()
    assert back.snapshot != changed.snapshot
    assert named(task, back) == named(task, base)


def test_a_task_of_before_gets_permissions_with_its_next_change(task: World) -> None:
    unchanged = task.capture()
    assert named(task, unchanged) is None
    write(task.worktree / "a.txt", "two\n")
    assert named(task, task.capture()) is not None


def test_permissions_that_cannot_be_read_make_no_snapshot(
    task: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = base_of(task)
    task.store.task(TASK).modes.unlink()
    monkeypatch.setattr(mode_look, "read_times", lambda _data, _bytes: None)
    taken = task.capture()
    assert taken.snapshot == base.snapshot
    assert taken.modes is None
    assert taken.coverage.notes == ("the permissions could not be recorded",)


def test_what_git_could_not_read_is_named(task: World, monkeypatch: pytest.MonkeyPatch) -> None:
    lost = Skipped(b"a.txt", Reason.CHANGING)
    really = PrivateIndex.record

    def record(index: PrivateIndex, paths: list[bytes]) -> list[Skipped]:
        return [*really(index, paths), lost]

    monkeypatch.setattr(PrivateIndex, "record", record)
    write(task.worktree / "a.txt", "two\n")
    assert task.capture().coverage.skipped == (lost,)


def test_on_another_branch_the_tip_is_that_of_the_tasks(task: World) -> None:
    task.user("switch", "-q", "--detach", cwd=task.worktree)
    write(task.worktree / "a.txt", "two\n")
    task.user("commit", "-qam", "elsewhere", cwd=task.worktree)
    state = state_in(task.store.read_commit(task.capture().snapshot))
    assert state is not None
    assert state.head == task.head(task.worktree)
    assert state.tip == task.repository.branch(task.branch) != state.head


def test_a_snapshot_of_before_is_followed_by_one_that_says_the_state(task: World) -> None:
    store, base = task.store, task.store.read_commit(base_of(task).snapshot)
    said = [line for line in base.message.split("\n") if not line.startswith(("Branch", "Tip"))]
    body = objects.commit_body(base._replace(message="\n".join(said)), at=1)
    old = objects.write_object(store.objects, "commit", body, "sha1")
    refs.write_ref(store.root, store.task(TASK).ref, old)
    assert state_in(store.read_commit(old)) is None
    taken = task.capture()
    assert taken.parent == old != taken.snapshot
    assert state_in(store.read_commit(taken.snapshot)) is not None
    assert task.capture().snapshot == taken.snapshot


def test_a_file_that_changes_while_it_is_recorded_is_named(
    task: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    really = PrivateIndex.record

    def record(index: PrivateIndex, paths: list[bytes]) -> list[Skipped]:
        lost = really(index, paths)
        write(task.worktree / "new", "more\n")
        return lost

    monkeypatch.setattr(PrivateIndex, "record", record)
    write(task.worktree / "a.txt", "two\n")
    write(task.worktree / "new", "1\n")
    coverage = task.capture().coverage
    assert coverage.unstable == (b"new",)
    assert not coverage.complete
    monkeypatch.undo()
    later = task.capture()
    assert [each.path for each in later.changes] == [b"new"]
    assert later.coverage.unstable == ()


def test_what_the_store_or_the_base_has_is_not_stored_again(task: World) -> None:
    (task.worktree / "a.txt").chmod(0o755)
    (change,) = task.capture().changes
    assert task.store.present([change.new_sha]) == set()  # the base keeps it
    write(task.worktree / "a.txt", "two\n")
    task.capture()
    write(task.worktree / "src" / "b.txt", "three\n")
    both = task.capture()
    task.user("checkout", "-q", ".", cwd=task.worktree)
    task.capture()
    packs = task.store.packs()
    write(task.worktree / "a.txt", "two\n")
    (task.worktree / "a.txt").chmod(0o755)
    write(task.worktree / "src" / "b.txt", "three\n")
    assert task.capture().tree == both.tree
    assert task.store.packs() == packs


def test_without_its_git_directory_the_files_of_a_worktree_are_recorded(task: World) -> None:
    shutil.rmtree(task.git_dir)
    write(task.worktree / "a.txt", "two\n")
    taken = task.capture()
    assert task.stored(taken.snapshot)[b"a.txt"] == ("100644", b"two\n")
    assert state_in(task.store.read_commit(taken.snapshot)) is None
    write(task.worktree / "a.txt", "three\n")
    request = request_of(task, "run", git_dir=None)  # nobody knows where it was
    taken = capture(task.store, request)
    assert task.stored(taken.snapshot)[b"a.txt"] == ("100644", b"three\n")
    assert state_in(task.store.read_commit(taken.snapshot)) is None


def test_without_its_index_a_sparse_checkout_deletes_nothing(world: World) -> None:
    world.commit({"big/1": "x", "small/1": "z"})
    world.add()
    world.user("sparse-checkout", "set", "--no-cone", "/small/", cwd=world.worktree)
    world.begin(world.head())
    first = world.capture()
    world.store.task(TASK).index_file.unlink()
    again = world.capture()
    assert again.tree == first.tree
    assert world.stored(again.snapshot)[b"big/1"] == ("100644", b"x")


@pytest.mark.parametrize("room", [True, False])
def test_a_capture_that_fails_says_what_to_do(
    task: World, monkeypatch: pytest.MonkeyPatch, *, room: bool
) -> None:
    def fails(_index: PrivateIndex, _paths: list[bytes]) -> list[Skipped]:
        raise CommandFailed("git broke", ["git"], 1, b"")

    monkeypatch.setattr(PrivateIndex, "record", fails)
    monkeypatch.setattr("siding.record.snapshots.scratch.has_room", lambda _root: room)
    before = task.store.tip(TASK)
    write(task.worktree / "a.txt", "two\n")
    with pytest.raises(SnapshotFailed, match="git broke") as failed:
        task.capture()
    assert ("make room" in str(failed.value.hint)) is not room
    assert task.store.tip(TASK) == before


# Directories without files.


def test_directories_without_files_are_named(task: World) -> None:
    root = task.worktree
    write(root / ".gitignore", "*.log\nout/\n")
    for name in ("void/in", "logs/deep", "out/in", "pipes", "large"):
        (root / name).mkdir(parents=True)
    write(root / "logs/deep/a.log", "x")
    write(root / "top.log", "x")
    write(root / "out/in/x", "x")
    os.mkfifo(root / "pipes/p")
    write(root / "large/file", b"x" * 2000)
    taken = task.capture(max_file_bytes=1000)
    assert taken.modes is not None
    assert taken.modes.bare == Bare(
        empty=(b"void/in",), other=(b"logs/deep", b"pipes"), unknown=(b"large/file", b"out")
    )
    stored = modes_of(task.store, taken.snapshot)
    assert stored is not None
    assert stored.bare == taken.modes.bare
    assert taken.modes.bare.may_have() == {
        *(b"void", b"void/in", b"logs", b"logs/deep", b"pipes", b"large", b"large/file", b"out"),
    }


def test_an_empty_directory_is_a_change_and_ignored_files_are_none(task: World) -> None:
    write(task.worktree / ".gitignore", "*.log\n")
    first = task.capture()
    write(task.worktree / "logs/a.log", "x")
    assert task.capture().snapshot == first.snapshot
    (task.worktree / "logs/a.log").unlink()
    second = task.capture()
    assert second.snapshot != first.snapshot
    assert second.changes == ()
    assert task.capture().snapshot == second.snapshot
    assert bare_changes(first.modes, second.modes) == {b"logs"}
    assert bare_changes(None, second.modes) == bare_changes(second.modes, None) == set()


def test_what_nobody_looked_for_is_no_difference() -> None:
    old = Modes(Usual(), {}, {})
    new = old._replace(links=(), bare=Bare(empty=(b"void",)))
    assert not differ(old, new)
    assert differ(old, new._replace(links=((b"a", b"b"),)))
    assert differ(new, new._replace(bare=Bare()))
    assert differ(new, new._replace(bare=None))
    assert not differ(new, new._replace(bare=Bare(empty=(b"void",), other=(b"o",))))
    assert bare_changes(old, new) == bare_changes(new, old) == set()


def test_the_text_of_directories_is_read_as_it_was_written() -> None:
    modes = Modes(Usual(), {}, {}, (), Bare((b"a", b'b\n"'), (b"o",), (b"u x",)))
    assert parse(modes.text()) == modes
    assert parse(modes._replace(bare=Bare()).text()) == modes._replace(bare=Bare())
    assert parse(modes._replace(bare=None).text()) == modes._replace(bare=None)


def test_too_many_directories_are_not_named() -> None:
    names = [b"%d" % number for number in range(10_000)]

    def found(*more: bytes) -> Bare | None:
        return bare_directories(names[1:], more, names[:1], directories=())

    assert found() == Bare(tuple(sorted(names[1:])), (), (b"0",))
    assert found(b"o/file") is None


def test_what_the_report_names_was_there_too() -> None:
    known = Bare(empty=(b"void",), unknown=(b"u",)).with_unknown([b"logs/deep/a.log"])
    assert known.may_have() == {b"void", b"u", b"logs", b"logs/deep", b"logs/deep/a.log"}
