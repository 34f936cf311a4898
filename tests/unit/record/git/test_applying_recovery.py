"""On which side a move is that was cut off, by its branch."""

from siding.record.moving.move import RecoveredSide
from siding.record.moving.move_recovery import side_of_branch

from .moving import Ready


def test_a_move_that_leads_back_is_told_from_one_that_leads_on(ready: Ready) -> None:
    """Then the new side is an ancestor of the old one."""
    world, there = ready.world, ready.move
    back = there.reversed(there.token)
    assert side_of_branch(world.repository, there) is RecoveredSide.UNDONE
    assert side_of_branch(world.repository, back) is RecoveredSide.DONE
    world.user("update-ref", "refs/heads/main", there.new)
    assert side_of_branch(world.repository, there) is RecoveredSide.DONE
    assert side_of_branch(world.repository, back) is RecoveredSide.UNDONE
    world.user("update-ref", "-d", "refs/heads/main")
    assert side_of_branch(world.repository, there) is RecoveredSide.UNDONE
    assert side_of_branch(world.repository, back) is RecoveredSide.UNDONE


def test_later_commits_may_be_on_top(ready: Ready) -> None:
    world, move = ready.world, ready.move
    later = world.user("commit-tree", "-p", move.new, "-m", "later", f"{move.new}^{{tree}}")
    world.user("update-ref", "refs/heads/main", later.decode().strip())
    assert side_of_branch(world.repository, move) is RecoveredSide.DONE
