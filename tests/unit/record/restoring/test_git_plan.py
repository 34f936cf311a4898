"""What of git's own a way back changes: HEAD, the index, or both."""

from integration.undo.desk import Desk


def changed(desk: Desk) -> tuple[bool, bool]:
    """Return whether the way back to step 1 moves HEAD, and whether it changes the index."""
    git = desk.preview(1).git
    return (False, False) if git is None else (git.moves_head, git.changes_index)


def test_what_was_staged_or_committed_since(desk: Desk) -> None:
    desk.shell("echo 1 >a")
    desk.shell("echo 2 >a")
    assert changed(desk) == (False, False)
    desk.shell("git add a")
    assert changed(desk) == (False, True)
    desk.shell("git commit -qm one")
    assert changed(desk) == (True, True)
