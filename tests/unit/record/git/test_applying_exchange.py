"""A move that is cut off while its files are exchanged, and what it leaves beside the checkout."""

import errno
import os
import time
from pathlib import Path

import pytest

from siding.applying.branch_move import take_back
from siding.ground.files import exchange
from siding.ground.files.exchange import Entry
from siding.ground.git.command import Place
from siding.ground.ids import Sha
from siding.record.moving.model import CheckoutBusy, CheckoutPlace, Move, RefusedMove, TargetMoved
from siding.record.moving.move import RecoveredSide, changed_paths
from siding.record.moving.move_recovery import recover
from siding.record.moving.ref_locks import sweep_locks
from siding.record.snapshots.patches import Change

from .moving import Ready, go
from .world import World, on_disk, write


class Killed(BaseException):
    """The process ends here: nothing that it would do on an error is done."""


def cut_off(monkeypatch: pytest.MonkeyPatch, ready: Ready, *, at: int, move: Move) -> None:
    """Carry the move out up to the rename with this number, counted from 0."""
    really = exchange._renameat2
    done: list[Entry] = []

    def renameat2(source: Entry, target: Entry, flags: int) -> None:
        if len(done) == at:
            raise Killed
        done.append(target)
        really(source, target, flags)

    with monkeypatch.context() as patch:
        patch.setattr(exchange, "_renameat2", renameat2)
        with pytest.raises(Killed):
            go(ready, move)


def recovered(ready: Ready, move: Move) -> RecoveredSide:
    """Return the side, which a second recovery must not change."""
    world = ready.world
    first, again = (
        recover(world.repository, world.settings, move, reason="test") for _ in range(2)
    )
    assert first is again
    return first


def displaced(move: Move) -> set[bytes]:
    """Return what the files hold that were taken out of the checkout; nothing else is there."""
    found = {path.name: path.read_bytes() for path in move.displaced.iterdir()}
    assert found.pop("names")
    assert all(name.isdigit() for name in found)
    return {*found.values()}


OLD = {b"one\n", b"two\n", b"gone\n", b"#!/bin/sh\n"}


@pytest.mark.parametrize("lock", ["is there", "was removed"])
@pytest.mark.parametrize("at", [0, 2])
def test_it_is_completed(ready: Ready, monkeypatch: pytest.MonkeyPatch, at: int, lock: str) -> None:
    cut_off(monkeypatch, ready, at=at, move=ready.move)
    if lock == "was removed":  # as git advises when it finds it
        (ready.world.root / ".git/index.lock").unlink()
    assert recovered(ready, ready.move) is RecoveredSide.DONE
    assert ready.is_at(ready.move.new)
    assert displaced(ready.move) == OLD


@pytest.mark.parametrize("at", [0, 2])
def test_a_file_that_was_saved_meanwhile_takes_it_back(
    ready: Ready, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    """It is one that was still to be exchanged; those that were exchanged go back."""
    world = ready.world
    cut_off(monkeypatch, ready, at=at, move=ready.move)
    write(world.root / "src/b.txt", "hers\n")
    assert recovered(ready, ready.move) is RecoveredSide.UNDONE
    assert (world.root / "src/b.txt").read_text() == "hers\n"
    write(world.root / "src/b.txt", "two\n")
    assert ready.is_at(ready.move.old)
    assert not ready.move.displaced.exists()


def test_a_file_that_was_saved_over_a_new_one_stays(
    ready: Ready, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = ready.world
    cut_off(monkeypatch, ready, at=2, move=ready.move)
    write(world.root / "a.txt", "hers\n")
    assert recovered(ready, ready.move) is RecoveredSide.DONE
    assert (world.root / "a.txt").read_text() == "hers\n"
    write(world.root / "a.txt", "new\n")
    assert ready.is_at(ready.move.new)


def test_taking_files_back_that_fails_half_way_changes_nothing(
    ready: Ready, monkeypatch: pytest.MonkeyPatch
) -> None:
    world, there = ready.world, without_commit(ready)
    go(ready, there)
    after = on_disk(world.root)
    back = there.reversed("fedcba9876543210")._replace(aside=world.directory / "back")
    really = exchange._renameat2
    failures = [OSError(errno.EIO, "the disk fails")]

    def renameat2(source: Entry, target: Entry, flags: int) -> None:
        if failures and target.name == b"b.txt":
            raise failures.pop()
        really(source, target, flags)

    changes = changed(world, back)
    monkeypatch.setattr(exchange, "_renameat2", renameat2)
    with pytest.raises(RefusedMove, match="the disk fails"):
        take_back(world.repository, world.settings, back, changes)
    assert on_disk(world.root) == after
    left = {path.name for path in (world.root / ".git").iterdir()}
    assert not [name for name in left if "lock" in name or "siding" in name]
    assert not back.displaced.exists()


def test_nothing_is_taken_back_in_the_middle_of_a_merge(ready: Ready) -> None:
    world, there = ready.world, without_commit(ready)
    go(ready, there)
    after = on_disk(world.root)
    back = there.reversed("fedcba9876543210")._replace(aside=world.directory / "back")
    write(world.root / ".git/MERGE_HEAD", ready.move.new + "\n")
    with pytest.raises(CheckoutBusy):
        take_back(world.repository, world.settings, back, changed(world, back))
    assert on_disk(world.root) == after
    assert not (world.root / ".git/index.lock").exists()


def without_commit(ready: Ready) -> Move:
    trees = (
        Sha(ready.world.user("rev-parse", f"{each}^{{tree}}").decode().strip())
        for each in (ready.move.old, ready.move.new)
    )
    old, new = trees
    return ready.move._replace(branch="", old=old, new=new)


@pytest.mark.parametrize("lock", ["is there", "was removed"])
def test_files_without_a_commit(ready: Ready, monkeypatch: pytest.MonkeyPatch, lock: str) -> None:
    """Without the lock git may have been at work meanwhile: they go back."""
    world, move = ready.world, without_commit(ready)
    index = world.user("ls-files", "-s")
    before = on_disk(world.root)
    cut_off(monkeypatch, ready, at=2, move=move)
    if lock == "was removed":
        (world.root / ".git/index.lock").unlink()
    side = recovered(ready, move)
    assert world.user("ls-files", "-s") == index
    assert world.repository.branch("main") == ready.move.old
    if lock == "was removed":
        assert side is RecoveredSide.UNDONE
        assert on_disk(world.root) == before
    else:
        assert side is RecoveredSide.DONE
        assert (world.root / "a.txt").read_text() == "new\n"
        assert displaced(move) == OLD
    assert not [*(world.root / ".git").glob("*lock"), *(world.root / ".git").glob("*siding*")]


def test_what_was_staged_for_a_refused_move_is_gone(ready: Ready) -> None:
    ready.world.user("commit", "-q", "--allow-empty", "-m", "hers")
    with pytest.raises(TargetMoved):
        go(ready)
    assert not ready.move.displaced.exists()


def test_a_submodule_comes_and_goes_as_an_empty_directory(ready: Ready) -> None:
    """As with git: nobody asked to fill it, and one that is filled stays."""
    world, old = ready.world, ready.move.new
    world.user("reset", "-q", "--hard", old)
    for name in ("sub", "filled"):
        world.user("update-index", "--add", "--cacheinfo", f"160000,{old},{name}")
        (world.root / name).mkdir()
    world.user("commit", "-q", "-m", "with")
    new = world.head()
    world.user("reset", "-q", "--hard", old)
    assert not (world.root / "sub").exists()
    there = ready.move._replace(old=old, new=new)
    go(ready._replace(changes=changed(world, there)), there)
    assert [*(world.root / "sub").iterdir()] == []
    assert world.user("status", "--porcelain", "--untracked-files=no") == b""
    write(world.root / "filled/file", "hers\n")
    back = there.reversed("fedcba9876543210")._replace(aside=world.directory / "back")
    go(ready._replace(changes=changed(world, back)), back)
    assert not (world.root / "sub").exists()
    assert (world.root / "filled/file").read_text() == "hers\n"


def changed(world: World, move: Move) -> list[Change]:
    place = Place(git_dir=world.paths.common_dir)
    return changed_paths(world.repository, place, move.old, move.new)


@pytest.mark.parametrize("why", ["checked out nowhere", "its checkout is gone"])
def test_a_branch_without_files_to_see_to(
    ready: Ready, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    monkeypatch.setattr(time, "sleep", lambda _seconds: None)
    world = ready.world
    world.user("branch", "other", ready.move.old)
    place = None
    if why == "its checkout is gone":
        place = CheckoutPlace(root=world.directory / "gone", git_dir=world.directory / "gone/.git")
    move = ready.move._replace(branch="other", checkout=place)
    lock = world.root / ".git/refs/heads/other.lock"
    write(lock, ready.move.new[:9])  # of a git that was killed
    assert recovered(ready, move) is RecoveredSide.UNDONE
    assert not lock.exists()
    world.user("branch", "-f", "other", ready.move.new)
    assert recovered(ready, move) is RecoveredSide.DONE
    world.user("branch", "-D", "other")
    assert recovered(ready, move) is RecoveredSide.UNDONE
    assert ready.is_at(ready.move.old)


# Locks of refs.


def test_only_locks_that_a_killed_git_of_ours_left_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = {
        "whole": "1234\n",
        "cut short": "12",
        "empty": "",
        "another's": "9999\n",
        "longer": "12345\n",
        "alive": "1234\n",
        "just gone": "1234\n",
    }
    for name, text in texts.items():
        write(tmp_path / name, text)

    def others_work(_seconds: float) -> None:
        (tmp_path / "just gone").unlink()
        write(tmp_path / "new", "1234\n")
        os.replace(tmp_path / "new", tmp_path / "alive")

    monkeypatch.setattr(time, "sleep", others_work)
    sweep_locks([tmp_path / name for name in (*texts, "missing")], ["", "1234"])
    assert {path.name for path in tmp_path.iterdir()} == {"another's", "longer", "alive"}


def test_nobody_waits_where_there_is_no_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    monkeypatch.setattr(time, "sleep", waits.append)
    sweep_locks([tmp_path / "missing"], ["1234"])
    assert waits == []
    write(tmp_path / "there", "9999")
    sweep_locks([tmp_path / "there"], ["1234"])
    (waited,) = waits
    assert waited > 0
