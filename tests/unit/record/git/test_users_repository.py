"""What recording does to the user's repository: one ref, and nothing else."""

import subprocess
from pathlib import Path

import pytest

from siding.ground.git.errors import SnapshotDamaged
from siding.ground.git.objects import parse_commit
from siding.record.snapshots.seeding import pin
from siding.record.snapshots.store_upkeep import (
    remove_task,
    repack,
    store_size,
    tidy,
    verify_snapshots,
)

from .world import TASK, World, bytes_below, on_disk, write


def test_recording_changes_nothing_of_the_users(task: World) -> None:
    write(task.root / "a.txt", "stashed\n")
    task.user("stash")
    write(task.root / "a.txt", "dirty\n")
    write(task.root / "staged", "staged\n")
    task.user("add", "staged")
    before = bytes_below(task.root)
    listed = task.user("for-each-ref"), task.user("status", "--porcelain"), task.user("reflog")
    for number in range(3):
        write(task.worktree / "file", f"{number}\n")
        write(task.worktree / f"new{number}", b"\0")
        task.capture()
    repack(task.store)
    verify_snapshots(task.store, TASK)
    assert bytes_below(task.root) == before
    after = task.user("for-each-ref"), task.user("status", "--porcelain"), task.user("reflog")
    assert after == listed


def test_the_users_log_and_mirror_know_no_snapshot(task: World, tmp_path: Path) -> None:
    write(task.worktree / "new", "x")
    snapshot = task.capture().snapshot
    assert snapshot not in task.user("log", "--all", "--format=%H").decode()
    assert task.user("cat-file", "-t", snapshot, check=False) == b""
    mirror = tmp_path / "mirror.git"
    task.user("init", "-q", "--bare", str(mirror))
    task.user("push", "-q", "--mirror", str(mirror))
    pushed = task.user("for-each-ref", "--format=%(objectname)", cwd=mirror).decode().split()
    assert set(pushed) <= {task.head()}
    assert task.user("cat-file", "-t", snapshot, cwd=mirror, check=False) == b""


def test_h14_no_object_of_a_snapshot_lies_in_the_users_store(task: World) -> None:
    before = task.user("count-objects", "-v")
    for number in range(5):
        write(task.worktree / "file", f"{number}\n")
        task.capture()
    assert task.user("count-objects", "-v") == before


def test_h15_snapshots_survive_the_users_gc(task: World) -> None:
    """The agent commits, amends and resets; the user then throws all unreachable things away."""
    tree = task.worktree
    write(tree / "kept", "first\n")
    task.user("add", "-A", cwd=tree)
    task.user("commit", "-qm", "one", cwd=tree)
    one = task.head(cwd=tree)
    first = task.capture()
    assert first.heads == (one,)
    write(tree / "kept", "second\n")
    task.user("commit", "-qam", "two", "--amend", cwd=tree)
    two = task.head(cwd=tree)
    write(tree / "kept", "third\n")
    task.user("commit", "-qam", "three", cwd=tree)
    three = task.head(cwd=tree)
    task.user("reset", "-q", "--hard", "HEAD~2", cwd=tree)
    second = task.capture()
    assert set(second.heads) == {two, three}
    held = {sha: task.stored(sha) for sha in (first.snapshot, second.snapshot)}
    task.user("reflog", "expire", "--expire=now", "--all")
    task.user("reflog", "expire", "--expire=now", "--all", cwd=tree)
    task.user("branch", "-D", "main", check=False)
    task.user("gc", "-q", "--prune=now")
    for sha in (one, two, three):
        assert task.user("cat-file", "-t", sha, check=False) == b"", "gc left it: nothing is shown"
    assert verify_snapshots(task.store, TASK, contents=True) == 3
    assert {sha: task.stored(sha) for sha in held} == held
    for sha in (one, two, three):
        assert task.store.read_commit(sha).message.strip()
    assert task.stored(three)[b"kept"] == ("100644", b"third\n")


def test_the_base_survives_when_the_user_drops_its_branch(task: World) -> None:
    base = task.store.base(TASK)
    task.capture()
    task.user("checkout", "-q", "--orphan", "other")
    task.user("commit", "-qm", "unrelated")
    task.user("worktree", "remove", "--force", str(task.worktree))
    task.user("branch", "-D", "main")
    task.user("branch", "-D", task.branch)
    task.user("reflog", "expire", "--expire=now", "--all")
    task.user("gc", "-q", "--prune=now")
    task.user("cat-file", "-e", base)
    assert verify_snapshots(task.store, TASK) == 1


def test_an_amended_away_commit_of_an_earlier_step_is_kept(task: World) -> None:
    tree = task.worktree
    task.user("commit", "-q", "--allow-empty", "-m", "one", cwd=tree)
    one = task.head(cwd=tree)
    first = task.capture()
    assert first.heads == (one,)
    assert first.snapshot != first.parent
    assert first.changes == ()
    assert task.capture().snapshot == first.snapshot
    commit = task.store.read_commit(first.snapshot)
    assert commit.parents[1:-1] == (one,)  # the last one holds the permissions


def test_commits_already_pruned_are_noted_not_fatal(task: World) -> None:
    tree = task.worktree
    task.user("commit", "-q", "--allow-empty", "-m", "one", cwd=tree)
    task.user("commit", "-q", "--amend", "--allow-empty", "-m", "two", cwd=tree)
    lost, head = task.user("rev-parse", "HEAD@{1}", "HEAD", cwd=tree).decode().split()
    (task.root / ".git" / "objects" / lost[:2] / lost[2:]).unlink()
    write(tree / "file", "x")
    taken = task.capture()
    assert taken.heads == (head,)
    assert len(taken.coverage.notes) == 1
    assert task.stored(taken.snapshot) == on_disk(tree)


def test_pins_are_plain_refs_that_git_understands(world: World) -> None:
    first, second = world.head(), world.commit({"x": "y"})
    for sha in (first, second, first):
        pin(world.git, world.paths, sha)
    assert _pinned(world) == sorted([first, second])
    world.user("pack-refs", "--all", "--prune")
    pin(world.git, world.paths, first)
    assert _pinned(world) == sorted([first, second])
    world.user("fsck", "--strict")


def test_verify_tells_what_is_missing_and_what_is_damaged(task: World) -> None:
    write(task.worktree / "new", "content\n")
    task.capture()
    store = task.store
    assert verify_snapshots(store, TASK, contents=True) == 2
    pack = next((store.objects / "pack").glob("*.pack"))
    data = pack.read_bytes()
    pack.chmod(0o644)
    pack.write_bytes(data[:40] + bytes([data[40] ^ 1]) + data[41:])
    with pytest.raises(SnapshotDamaged):
        verify_snapshots(store, TASK, contents=True)
    pack.unlink()
    pack.with_suffix(".idx").unlink()
    with pytest.raises(SnapshotDamaged):
        verify_snapshots(store, TASK)


def test_verify_sees_an_object_that_only_the_user_has(task: World) -> None:
    """Complete with the user's objects is not complete."""
    write(task.worktree / "new", "content\n")
    task.capture()
    store = task.store
    for pack in (store.objects / "pack").glob("*.pack"):
        pack.chmod(0o644)
        task.user("unpack-objects", "-q", stdin=pack.read_bytes())
        pack.unlink()
        pack.with_suffix(".idx").unlink()
    with pytest.raises(SnapshotDamaged, match="the snapshot store lacks"):
        verify_snapshots(store, TASK)


def test_repacking_and_tidying_keep_everything(
    task: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(6):
        write(task.worktree / "file", f"{number}\n" * 100)
        task.capture()
    store = task.store
    held = task.stored(store.tip(TASK) or "")
    assert store.packs() == 6
    assert not tidy(store)
    monkeypatch.setattr("siding.record.snapshots.store.PACKS_BEFORE_TIDYING", 6)
    assert tidy(store)
    assert store.packs() < 6
    repack(store)
    assert store.packs() == 1
    assert verify_snapshots(store, TASK, contents=True) == 7
    assert task.stored(store.tip(TASK) or "") == held
    assert store_size(store) > 0
    taken = task.capture()
    assert taken.snapshot == taken.parent
    write(task.worktree / "file", "after\n")
    assert task.stored(task.capture().snapshot)[b"file"] == ("100644", b"after\n")


def test_a_forgotten_task_is_gone(task: World) -> None:
    write(task.worktree / "new", "x")
    task.capture()
    assert task.store.tasks() == [TASK]
    remove_task(task.store, TASK)
    assert task.store.tasks() == []
    assert task.store.tip(TASK) is None


def test_git_itself_finds_the_store_sound(task: World) -> None:
    write(task.worktree / "new", "x")
    task.capture()
    done = subprocess.run(
        ["git", "--git-dir", str(task.store.root), "fsck", "--strict", "--no-dangling"],
        env=task.env | {"GIT_ALTERNATE_OBJECT_DIRECTORIES": str(task.paths.objects)},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    body = task.user(
        "--git-dir", str(task.store.root), "cat-file", "commit", task.store.tip(TASK) or ""
    )
    assert parse_commit(body).message.startswith("run 0001\n")


def _pinned(world: World) -> list[str]:
    listed = world.user("for-each-ref", "--format=%(refname) %(objectname)", "refs/siding/base/")
    refs = dict(line.split(" ") for line in listed.decode().splitlines())
    assert all(name == f"refs/siding/base/{sha}" for name, sha in refs.items())
    return sorted(refs.values())
