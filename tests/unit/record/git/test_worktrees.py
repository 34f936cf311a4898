"""Worktrees are made, taken back, moved away and brought back; no file of anybody's is deleted."""

import shutil
import threading
from pathlib import Path

import pytest

from siding.ground.errors import SidingError
from siding.ground.git.discovery import find_repository
from siding.ground.git.errors import BranchExists, BranchInUse, GitError
from siding.ground.git.repository import Repository
from siding.record.worktrees.linked import add_worktree, undo_add
from siding.record.worktrees.listing import admin_dir, git_dir_of, worktrees
from siding.record.worktrees.registration import (
    attach_worktree,
    detach_worktree,
    is_attached,
    reattach,
)

from .world import World, bytes_below, on_disk, write


def test_a_worktree_is_what_git_would_make(world: World) -> None:
    base = world.commit({"crlf": b"a\r\n", "bin": b"\0", "x/y/z": "deep\n"})
    (world.root / "link").symlink_to("a.txt")
    (world.root / "a.txt").chmod(0o755)
    base = world.commit({})
    added = world.add(base)
    assert on_disk(added.path) == on_disk(world.root)
    assert added.pristine
    assert added.notes == ()
    assert world.user("status", "--porcelain", cwd=added.path) == b""
    assert world.user("rev-parse", "--abbrev-ref", "HEAD", cwd=added.path) == b"siding/task\n"
    assert world.head(cwd=added.path) == base
    assert git_dir_of(added.path) == added.git_dir == admin_dir(world.repository, added.path)
    assert b"siding/task" not in (world.root / ".git" / "config").read_bytes()
    world.user("fsck", "--strict")


def test_from_an_older_commit_and_a_detached_or_dirty_main(world: World) -> None:
    old = world.head()
    world.commit({"later": "x"})
    world.user("checkout", "-q", "--detach")
    write(world.root / "a.txt", "dirty\n")
    write(world.root / "untracked", "x")
    before = bytes_below(world.root, without=(".git",))
    added = world.add(old)
    assert set(on_disk(added.path)) == {b"a.txt", b"src/b.txt", b"src/deep/c.txt"}
    assert bytes_below(world.root, without=(".git",)) == before


def test_a_bare_repository(world: World, tmp_path: Path) -> None:
    bare = tmp_path / "bare.git"
    world.user("clone", "-q", "--bare", str(world.root), str(bare))
    repository = Repository(world.git, find_repository(bare))
    base = repository.resolve("main")
    added = add_worktree(
        repository, tmp_path / "w", "siding/x", base, user=world.settings, workers=2
    )
    assert on_disk(added.path) == on_disk(world.root)
    done = undo_add(repository, tmp_path / "w", "siding/x", base, aside=tmp_path / "aside")
    assert len(done) == 3


def test_no_hook_runs_and_default_settings_of_the_user_are_harmless(world: World) -> None:
    hook = world.root / ".git" / "hooks" / "post-checkout"
    write(hook, "#!/bin/sh\ntouch $HOME/fired\n")
    hook.chmod(0o755)
    for key, value in (
        ("branch.autoSetupMerge", "always"),
        ("worktree.guessRemote", "true"),
        ("core.untrackedCache", "true"),
        ("core.splitIndex", "true"),
        ("index.version", "4"),
        ("checkout.workers", "1"),
    ):
        world.user("config", "--global", key, value)
        world.user("config", key, value)
    world.start()
    assert not (world.home / "fired").exists()
    write(world.worktree / "new", "x")
    assert world.stored(world.capture().snapshot) == on_disk(world.worktree)


def test_taken_names_are_refused_and_left_alone(world: World) -> None:
    base = world.head()
    world.user("branch", "siding/task", base)
    with pytest.raises(BranchExists):
        world.add(base)
    assert (
        undo_add(
            world.repository, world.worktree, "siding/task", base, aside=world.directory / "aside"
        )
        == []
    )
    assert world.repository.branch("siding/task") == base, "the user's own branch of that name"
    world.user("branch", "-D", "siding/task")
    write(world.worktree / "mine", "x")
    with pytest.raises(GitError, match="already"):
        world.add(base)
    assert (world.worktree / "mine").read_text() == "x"
    assert world.repository.branch("siding/task") is None


@pytest.mark.parametrize(
    "name", ["", "-x", "a..b", "a b", "a~1", "x.lock", "@", "a//b", "/a", "a/", "x\n", ".a", "a/.b"]
)
def test_names_that_are_no_branch(world: World, name: str) -> None:
    with pytest.raises(SidingError):
        add_worktree(world.repository, world.worktree, name, world.head(), user=world.settings)
    assert not world.worktree.exists()


def test_undoing_takes_back_exactly_what_was_made(world: World) -> None:
    before = bytes_below(world.root, without=(".git/logs",))
    base = world.head()
    world.add(base)
    write(world.worktree / "work", "of somebody\n")
    aside = world.directory / "aside"
    assert len(undo_add(world.repository, world.worktree, world.branch, base, aside=aside)) == 3
    after = bytes_below(world.root, without=(".git/logs", ".git/refs/siding"))
    assert after == before
    assert (aside / "workspace" / "work").read_text() == "of somebody\n"
    assert undo_add(world.repository, world.worktree, world.branch, base, aside=aside) == []
    world.add(base)


def test_undoing_keeps_a_branch_that_has_moved(world: World) -> None:
    base = world.head()
    world.add(base)
    world.user("commit", "-q", "--allow-empty", "-m", "work", cwd=world.worktree)
    moved = world.head(cwd=world.worktree)
    undo_add(world.repository, world.worktree, world.branch, base, aside=world.directory / "aside")
    assert world.repository.branch(world.branch) == moved


@pytest.mark.parametrize("cut", range(6))
def test_undoing_what_a_killed_git_left(world: World, cut: int) -> None:
    """States in which a kill leaves `git worktree add`, one after the other."""
    base = world.head()
    added = world.add(base)
    admin, path = added.git_dir, world.worktree
    lock = world.root / ".git" / "refs" / "heads" / "siding" / "task.lock"
    if cut <= 4:
        for entry in path.iterdir():
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        path.rmdir()
    if cut <= 3:
        for name in ("HEAD", "index", "ORIG_HEAD"):
            (admin / name).unlink(missing_ok=True)
    if cut <= 2:
        for name in ("gitdir", "commondir"):
            (admin / name).unlink(missing_ok=True)
        write(admin / "locked", "initializing")
    if cut <= 1:
        shutil.rmtree(admin)
    if cut == 0:
        world.user("update-ref", "-d", "refs/heads/siding/task")
        write(lock, base)
    undo_add(world.repository, path, world.branch, base, aside=world.directory / "aside")
    assert not lock.exists()
    assert not path.exists()
    assert len(worktrees(world.repository)) == 1
    assert world.repository.branch(world.branch) is None
    world.user("fsck", "--strict")
    world.add(base)
    assert world.user("status", "--porcelain", cwd=path) == b""


def test_h9_many_at_once_beside_a_user_who_does_the_same(world: World) -> None:
    """The caller serialises our own; somebody else's git is in the way now and then."""
    base = world.head()
    failed: list[BaseException] = []
    lock = threading.Lock()

    def ours(number: int) -> None:
        path = world.directory / f"w{number}"
        try:
            with lock:
                add_worktree(world.repository, path, f"siding/{number}", base, user=world.settings)
        except BaseException as error:  # noqa: BLE001 - told below
            failed.append(error)

    def theirs(number: int) -> None:
        place = str(world.directory / f"u{number}")
        world.user("worktree", "add", "-q", "--no-track", "-b", f"user{number}", place, check=False)

    threads = [threading.Thread(target=act, args=(n,)) for n in range(6) for act in (ours, theirs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    for number in range(6):
        assert on_disk(world.directory / f"w{number}") == on_disk(world.root)


def test_h9_another_git_in_the_way_is_waited_for(world: World) -> None:
    """Another `worktree add` has made half of its record, which stops every git that looks."""
    half = world.root / ".git/worktrees/theirs"
    write(half / "HEAD", "ref: refs/heads/theirs\n")
    write(half / "commondir", "")
    write(half / "gitdir", str(world.directory / "theirs/.git"))
    world.user("worktree", "add", "-q", "-b", "other", str(world.directory / "o"), check=False)
    assert not (world.directory / "o/.git").exists(), "it is in nobody's way"
    leaving = threading.Timer(0.2, shutil.rmtree, [half])
    leaving.start()
    try:
        assert on_disk(world.add().path) == on_disk(world.root)
    finally:
        leaving.join()


def test_detached_and_attached_again_nothing_is_lost(task: World) -> None:
    """P12: ignored, staged-only, nested and committed work is all there after the way back."""
    tree, base = task.worktree, task.head()
    write(tree / ".gitignore", "*.bin\n")
    write(tree / "model.bin", b"\0\1")
    write(tree / "staged", "staged only\n")
    task.user("add", "staged", cwd=tree)
    (tree / "staged").unlink()
    task.user("commit", "-q", "--allow-empty", "-m", "work", cwd=tree)
    write(tree / "a.txt", "dirty\n")
    task.user("init", "-q", str(tree / "nested"))
    write(tree / "nested" / "x", "x")
    trash = task.directory / "trash"
    before = on_disk(tree), task.user("status", "--porcelain=v2", "-z", cwd=tree)
    log = task.user("reflog", cwd=tree)
    stored = detach_worktree(task.repository, tree, task.git_dir, trash)
    tree.rename(trash / "workspace")
    assert len(worktrees(task.repository)) == 1
    task.user("worktree", "prune")
    task.user("branch", "-m", "siding/task", "renamed")
    task.user("branch", "-m", "renamed", "siding/task")
    (trash / "workspace").rename(tree)
    git_dir = attach_worktree(task.repository, tree, stored)
    assert is_attached(task.repository, tree, git_dir)
    assert (on_disk(tree), task.user("status", "--porcelain=v2", "-z", cwd=tree)) == before
    assert log.splitlines()[0] in task.user("reflog", cwd=tree).splitlines()
    assert task.head(cwd=tree) != base
    task.user("fsck", "--strict")


def test_a_branch_that_is_in_use_is_not_attached_twice(task: World) -> None:
    trash = task.directory / "trash"
    stored = detach_worktree(task.repository, task.worktree, task.git_dir, trash)
    task.user("checkout", "-q", task.branch)
    with pytest.raises(BranchInUse):
        attach_worktree(task.repository, task.worktree, stored)
    assert stored.is_dir()


def test_only_the_registration_of_that_worktree_is_detached(task: World) -> None:
    other = task.directory / "other"
    task.user("worktree", "add", "-q", "-b", "other", str(other))
    theirs = admin_dir(task.repository, other)
    assert theirs is not None
    for wrong in (theirs, task.root / ".git", task.directory):
        with pytest.raises(GitError):
            detach_worktree(task.repository, task.worktree, wrong, task.directory / "trash")
    assert task.user("status", "--porcelain", cwd=other) == b""


@pytest.mark.parametrize("moved", ["repository", "worktree"])
def test_links_are_mended_after_a_move(task: World, moved: str) -> None:
    write(task.worktree / "new", "x")
    before = on_disk(task.worktree)
    if moved == "repository":
        task.root = task.root.rename(task.directory / "elsewhere")
    else:
        task.worktree = task.worktree.rename(task.directory / "elsewhere")
    git_dir = task.root / ".git" / "worktrees" / task.git_dir.name
    assert not is_attached(task.repository, task.worktree, git_dir)
    reattach(task.repository, task.worktree, git_dir, task.branch, task.head())
    assert is_attached(task.repository, task.worktree, git_dir)
    assert task.user("status", "--porcelain", cwd=task.worktree) == b"?? new\n"
    assert on_disk(task.worktree) == before


def test_a_lost_registration_is_made_again(task: World) -> None:
    write(task.worktree / "a.txt", "work\n")
    shutil.rmtree(task.git_dir)
    assert not is_attached(task.repository, task.worktree, task.git_dir)
    reattach(task.repository, task.worktree, task.git_dir, task.branch, task.head())
    assert task.user("status", "--porcelain", cwd=task.worktree) == b" M a.txt\n"
    assert task.user("rev-parse", "--abbrev-ref", "HEAD", cwd=task.worktree) == b"siding/task\n"


def test_the_agent_cannot_point_us_elsewhere(task: World) -> None:
    """The worktree's own `.git` file is not what decides."""
    write(task.worktree / ".git", f"gitdir: {task.directory}/evil\n")
    assert admin_dir(task.repository, task.worktree) == task.git_dir
    assert not is_attached(task.repository, task.worktree, task.git_dir)


def test_through_a_link(world: World) -> None:
    (world.directory / "real").mkdir()
    (world.directory / "link").symlink_to(world.directory / "real")
    world.worktree = world.directory / "link" / "task"
    base = world.head()
    added = world.add(base)
    assert is_attached(world.repository, added.path, added.git_dir)
    undo_add(world.repository, added.path, world.branch, base, aside=world.directory / "aside")
    assert len(worktrees(world.repository)) == 1


@pytest.mark.parametrize("cone", [True, False])
def test_sparse_checkouts_are_kept_and_never_taken_for_deleted(world: World, *, cone: bool) -> None:
    world.commit({"big/1": "x", "big/2": "y", "small/1": "z", "small/2": "w", "top": "t"})
    kind = "--cone" if cone else "--no-cone"
    world.user("sparse-checkout", "set", kind, "small" if cone else "/small/")
    if world.git.version() < (2, 36):  # which does not pass it on to a new worktree
        world.add()
        world.user("sparse-checkout", "set", kind, "small/", cwd=world.worktree)
        world.begin(world.head())
    else:
        world.start()
    assert not (world.worktree / "big").exists()
    assert (world.worktree / "small" / "1").exists()
    first = world.capture()
    assert first.snapshot == first.parent
    assert first.coverage.sparse >= 2
    write(world.worktree / "small" / "1", "changed")
    second = world.capture()
    assert [c.path for c in second.changes] == [b"small/1"]
    assert world.stored(second.snapshot)[b"big/1"] == ("100644", b"x")
    write(world.worktree / "big" / "1", "written where sparse left nothing")
    third = world.capture()
    assert [(c.status, c.path) for c in third.changes] == [("M", b"big/1")]
    world.user("sparse-checkout", "disable", cwd=world.worktree)
    assert world.stored(world.capture().snapshot) == on_disk(world.worktree)
    world.user("sparse-checkout", "set", kind, "big" if cone else "/big/", cwd=world.worktree)
    narrowed = world.capture()
    assert not (world.worktree / "small" / "2").exists()
    assert world.stored(narrowed.snapshot)[b"small/2"] == ("100644", b"w")
    assert narrowed.snapshot == narrowed.parent


def test_lfs_missing_is_said_and_the_checkout_works(world: World) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
    world.commit({".gitattributes": "*.bin filter=lfs\n", "x.bin": pointer})
    for name, arguments in (("clean", "clean -- %f"), ("smudge", "smudge -- %f"), ("process", "")):
        world.user("config", "--global", f"filter.lfs.{name}", f"git-lfs-not-here {arguments}")
    world.user("config", "--global", "filter.lfs.required", "true")
    added = world.start()
    assert len(added.notes) == 1
    assert "lfs" in added.notes[0]
    assert (world.worktree / "x.bin").read_text() == pointer
    taken = world.capture()
    assert taken.snapshot == taken.parent


def test_the_users_own_filter_is_honoured_and_its_output_recorded(world: World) -> None:
    world.user("config", "--global", "filter.up.smudge", "tr a-z A-Z")
    world.user("config", "--global", "filter.up.clean", "tr A-Z a-z")
    world.user("config", "filter.up.smudge", "touch $HOME/fired")
    world.commit({".gitattributes": "*.txt filter=up\n"})
    world.start()
    assert not (world.home / "fired").exists()
    assert (world.worktree / "a.txt").read_text() == "ONE\n"
    taken = world.capture()
    assert taken.snapshot != taken.parent
    assert world.stored(taken.snapshot) == on_disk(world.worktree)
