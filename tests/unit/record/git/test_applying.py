"""A branch and its checkout move together beside the person's work, or not at all; cut off
anywhere, `recover` brings both to one side."""

from collections.abc import Callable
from pathlib import Path

import pytest

from privileges import bound_by_permissions
from siding.applying.branch_move import carry_out, take_back
from siding.ground.git.command import Place
from siding.ground.ids import Sha
from siding.record.moving import checkout as checkouts
from siding.record.moving.checkout import CheckoutGit
from siding.record.moving.model import (
    CheckoutBusy,
    CheckoutPlace,
    IndexLocked,
    Move,
    Overlapping,
    RefusedMove,
    TargetMoved,
    Trees,
    move_from,
)
from siding.record.moving.move import (
    RecoveredSide,
    changed_paths,
    checkout_of,
    overlaps,
    pushed_to,
    refuse_busy,
    swap,
)
from siding.record.moving.move_recovery import recover

from .moving import TOKEN, Ready, go
from .world import World, on_disk, write


def test_branch_and_checkout_move_together_and_back(ready: Ready) -> None:
    assert ready.is_at(ready.move.old)
    go(ready)
    assert ready.is_at(ready.move.new)
    assert b"test" in ready.world.user("reflog", "-1", "main")
    back = ready.move.reversed("fedcba9876543210")._replace(aside=ready.world.directory / "back")
    changes = changed_paths(
        ready.world.repository, Place(git_dir=ready.world.paths.common_dir), back.old, back.new
    )
    carry_out(ready.world.repository, ready.world.settings, back, changes, reason="back")
    assert ready.is_at(ready.move.old)


def test_a_branch_that_is_checked_out_nowhere(ready: Ready) -> None:
    world = ready.world
    world.user("branch", "other", ready.move.old)
    assert checkout_of(world.repository, "other") is None
    go(ready, ready.move._replace(branch="other", checkout=None))
    assert world.repository.branch("other") == ready.move.new
    assert ready.is_at(ready.move.old)


def test_a_move_reads_back_from_its_record(ready: Ready) -> None:
    assert move_from(ready.move.as_record()) == ready.move
    nowhere = ready.move._replace(checkout=None)
    assert move_from(nowhere.as_record()) == nowhere


# What is in the way.


def an_edit(world: World) -> list[bytes]:
    write(world.root / "a.txt", "mine\n")
    return [b"a.txt"]


def a_staged_edit(world: World) -> list[bytes]:
    write(world.root / "a.txt", "mine\n")
    world.user("add", "a.txt")
    write(world.root / "a.txt", "one\n")
    return [b"a.txt"]


def an_unknown_file(world: World) -> list[bytes]:
    write(world.root / "odd \n\u00e9/x", "mine\n")
    return ["odd \n\u00e9/x".encode()]


def a_file_for_a_directory(world: World) -> list[bytes]:
    write(world.root / "odd \n\u00e9", "mine\n")
    return ["odd \n\u00e9".encode()]


def a_staged_file_for_a_directory(world: World) -> list[bytes]:
    """On disk it is gone again: only the index has it."""
    write(world.root / "odd \n\u00e9", "mine\n")
    world.user("add", "odd \n\u00e9")
    (world.root / "odd \n\u00e9").unlink()
    return ["odd \n\u00e9".encode()]


def a_staged_directory_for_a_file(world: World) -> list[bytes]:
    write(world.root / "odd \n\u00e9/x/deep", "mine\n")
    world.user("add", "odd \n\u00e9/x/deep")
    return ["odd \n\u00e9/x/deep".encode()]


def an_ignored_file(world: World) -> list[bytes]:
    write(world.root / ".git/info/exclude", "x\n")
    return an_unknown_file(world)


def one_that_git_does_not_look_at(world: World) -> list[bytes]:
    world.user("update-index", "--assume-unchanged", "a.txt")
    write(world.root / "a.txt", "mine\n")
    return [b"a.txt"]


@pytest.mark.parametrize(
    "meanwhile",
    [
        an_edit,
        a_staged_edit,
        an_unknown_file,
        a_file_for_a_directory,
        an_ignored_file,
        a_staged_file_for_a_directory,
        a_staged_directory_for_a_file,
        one_that_git_does_not_look_at,
    ],
)
def test_what_is_in_the_way_is_named_and_nothing_moves(
    ready: Ready, meanwhile: Callable[[World], list[bytes]]
) -> None:
    world, place = ready.world, ready.move.checkout
    assert place is not None
    assert overlaps(world.repository, world.settings, place, ready.changes).all == ()
    named = meanwhile(world)
    files, index = on_disk(world.root), world.user("ls-files", "-s", "-v")
    assert [*overlaps(world.repository, world.settings, place, ready.changes).all] == named
    with pytest.raises(Overlapping) as raised:
        go(ready)
    assert [*raised.value.overlaps.all] == named
    assert (on_disk(world.root), world.user("ls-files", "-s", "-v")) == (files, index)
    assert world.repository.branch("main") == ready.move.old
    assert not list((world.root / ".git").glob("*.lock"))


def test_a_branch_that_moved_meanwhile(ready: Ready) -> None:
    world = ready.world
    world.user("commit", "-q", "--allow-empty", "-m", "hers")
    with pytest.raises(TargetMoved):
        go(ready)
    assert not list((world.root / ".git").glob("*lock*"))


def test_another_git_at_work(ready: Ready) -> None:
    lock = ready.world.root / ".git/index.lock"
    lock.write_bytes(b"")
    with pytest.raises(IndexLocked):
        go(ready)
    assert lock.read_bytes() == b""
    lock.unlink()
    assert ready.is_at(ready.move.old)


def test_files_that_cannot_be_written(ready: Ready) -> None:
    """It fails half way: the branch goes back, and so do the files."""

    def refused() -> None:
        with pytest.raises(RefusedMove):
            go(ready)

    (ready.world.root / "src").chmod(0o500)
    bound_by_permissions(refused)
    (ready.world.root / "src").chmod(0o755)
    assert ready.is_at(ready.move.old)


@pytest.mark.parametrize("name", ["MERGE_HEAD", "rebase-merge", "CHERRY_PICK_HEAD", "BISECT_START"])
def test_in_the_middle_of_something(world: World, ready: Ready, name: str) -> None:
    place = ready.move.checkout
    assert place is not None
    refuse_busy(world.repository, place)
    write(place.git_dir / name, "")
    with pytest.raises(CheckoutBusy, match=name.partition("_")[0].partition("-")[0].lower()):
        refuse_busy(world.repository, place)


def test_a_branch_that_two_worktrees_have(ready: Ready) -> None:
    world = ready.world
    world.user("worktree", "add", "-q", "--force", str(world.directory / "two"), "main")
    with pytest.raises(CheckoutBusy, match="two"):
        checkout_of(world.repository, "main")


def test_who_has_it_already(ready: Ready) -> None:
    world = ready.world
    assert pushed_to(world.repository, ready.move.new) == []
    world.user("update-ref", "refs/remotes/origin/main", ready.move.new)
    assert pushed_to(world.repository, ready.move.new) == ["origin/main"]
    assert pushed_to(world.repository, ready.move.old) == ["origin/main"]


# Cut off.


def nothing_yet(_world: World, _move: Move, _place: CheckoutPlace) -> None:
    pass


def locked(_world: World, move: Move, place: CheckoutPlace) -> None:
    checkouts.take_lock(place, move.token)


def copied(world: World, move: Move, place: CheckoutPlace) -> None:
    locked(world, move, place)
    checkouts.copy_index(place, move.token)


def swapped(world: World, move: Move, place: CheckoutPlace) -> None:
    copied(world, move, place)
    swap(world.repository, move, reason="test")


def one_file_written(world: World, move: Move, place: CheckoutPlace) -> None:
    swapped(world, move, place)
    write(world.root / "a.txt", "new\n")


def half_a_file_written(world: World, move: Move, place: CheckoutPlace) -> None:
    swapped(world, move, place)
    (world.root / "gone").unlink()
    write(world.root / "a.txt", "ne")


def all_written(world: World, move: Move, place: CheckoutPlace) -> None:
    swapped(world, move, place)
    private = checkouts.private_index(place, move.token)
    where = CheckoutGit(world.repository, world.settings, place)
    checkouts.read_trees(where, private, Trees(move.old, move.new))


def put_in_place(world: World, move: Move, place: CheckoutPlace) -> None:
    all_written(world, move, place)
    checkouts.put_in_place(place, checkouts.private_index(place, move.token))


STAGES = [
    nothing_yet,
    locked,
    copied,
    swapped,
    one_file_written,
    half_a_file_written,
    all_written,
    put_in_place,
]


@pytest.mark.parametrize("stage", STAGES)
def test_cut_off_anywhere_it_comes_to_one_side(
    ready: Ready, stage: Callable[[World, Move, CheckoutPlace], None]
) -> None:
    world, move = ready.world, ready.move
    assert move.checkout is not None
    stage(world, move, move.checkout)
    for _ in range(2):  # again does no harm
        side = recover(world.repository, world.settings, move, reason="test")
        forward = STAGES.index(stage) >= STAGES.index(swapped)
        assert side is (RecoveredSide.DONE if forward else RecoveredSide.UNDONE)
        assert ready.is_at(move.new if forward else move.old)


def test_an_edit_of_hers_after_the_crash_takes_it_back(ready: Ready) -> None:
    """The branch had moved and she then edited a file that it changes: hers stays."""
    world, move = ready.world, ready.move
    assert move.checkout is not None
    swapped(world, move, move.checkout)
    write(world.root / "a.txt", "hers\n")
    assert recover(world.repository, world.settings, move, reason="test") is RecoveredSide.UNDONE
    assert world.repository.branch("main") == move.old
    assert (world.root / "a.txt").read_text() == "hers\n"
    assert (world.root / "gone").exists()


@pytest.mark.parametrize("went_on", [True, False])
def test_a_branch_that_somebody_moved_after_the_crash_stays_where_it_is(
    ready: Ready, went_on: bool
) -> None:
    """On top of our commit or elsewhere: the files are not ours to bring anywhere any more."""
    world, move = ready.world, ready.move
    assert move.checkout is not None
    swapped(world, move, move.checkout)
    tree = world.user("rev-parse", f"{move.new}^{{tree}}").decode().strip()
    parent = move.new if went_on else move.old
    hers = world.user("commit-tree", tree, "-p", parent, "-m", "hers").decode().strip()
    world.user("update-ref", "refs/heads/main", hers)
    before = on_disk(world.root)
    for _ in range(2):
        side = recover(world.repository, world.settings, move, reason="test")
        assert side is (RecoveredSide.DONE if went_on else RecoveredSide.UNDONE)
        assert world.repository.branch("main") == hers
        assert on_disk(world.root) == before
        assert not list((world.root / ".git").glob("*lock*"))
        assert not list((world.root / ".git").glob("*siding*"))


def test_a_lock_of_somebody_elses_is_left(ready: Ready) -> None:
    place = ready.move.checkout
    assert place is not None
    checkouts.take_lock(place, "another0token000")
    assert not checkouts.lock_is_ours(place, TOKEN)
    checkouts.release_dead_lock(place, TOKEN)
    assert (place.git_dir / "index.lock").exists()
    checkouts.release_dead_lock(place, "another0token000")
    assert not (place.git_dir / "index.lock").exists()


# Files only.


def files_only(ready: Ready) -> tuple[Move, Move]:
    """Return the move that writes files without a commit, and the one back."""
    world, move = ready.world, ready.move
    old, new = (
        Sha(world.user("rev-parse", f"{each}^{{tree}}").decode().strip())
        for each in (move.old, move.new)
    )
    there = move._replace(branch="", old=old, new=new)
    back = there.reversed("fedcba9876543210")
    return there, back._replace(aside=ready.world.directory / "back")


def reverted(ready: Ready, back: Move) -> None:
    world = ready.world
    changes = changed_paths(
        world.repository, Place(git_dir=world.paths.common_dir), back.old, back.new
    )
    take_back(world.repository, world.settings, back, changes)


def test_files_without_a_commit_there_and_back(ready: Ready) -> None:
    there, back = files_only(ready)
    index = ready.world.user("ls-files", "-s")
    go(ready, there)
    assert (ready.world.root / "a.txt").read_text() == "new\n"
    assert ready.world.repository.branch("main") == ready.move.old
    assert ready.world.user("ls-files", "-s") == index
    reverted(ready, back)
    assert ready.is_at(ready.move.old)


@pytest.mark.parametrize("stage", [False, True])
def test_files_that_were_touched_since_are_not_taken_back(ready: Ready, stage: bool) -> None:
    there, back = files_only(ready)
    go(ready, there)
    if stage:
        ready.world.user("add", "a.txt")
    else:
        write(ready.world.root / "a.txt", "hers\n")
    before = on_disk(ready.world.root)
    with pytest.raises(Overlapping, match=r"a\.txt"):
        reverted(ready, back)
    assert on_disk(ready.world.root) == before
    assert not list(Path(ready.world.root, ".git").glob("*lock*"))


# A checkout whose index git can do nothing with: it has conflicts that nobody has resolved.


def leave_a_conflict(world: World) -> None:
    sha = world.user("rev-parse", "HEAD:kept.txt").decode().strip()
    stages = "".join(f"100644 {sha} {number}\tkept.txt\n" for number in (1, 2, 3))
    index = world.root / ".git/index.lock"
    held = index.read_bytes()
    index.unlink()
    world.user("update-index", "--index-info", stdin=f"0 {'0' * 40}\tkept.txt\n{stages}".encode())
    index.write_bytes(held)


@pytest.mark.parametrize("lock", ["is there", "was removed", "was removed, and it was resolved"])
def test_a_move_that_stopped_at_unresolved_conflicts(ready: Ready, lock: str) -> None:
    world, move = ready.world, ready.move
    assert move.checkout is not None
    swapped(world, move, move.checkout)
    leave_a_conflict(world)
    if lock != "is there":
        (world.root / ".git/index.lock").unlink()
    if lock.endswith("resolved"):
        world.user("reset", "-q", move.old, "--", "kept.txt")
    side = recover(world.repository, world.settings, move, reason="test")
    resolved = lock.endswith("resolved")
    assert side is (RecoveredSide.DONE if resolved else RecoveredSide.UNDONE)
    world.user("reset", "-q", "HEAD", "--", "kept.txt")
    assert ready.is_at(move.new if resolved else move.old)
