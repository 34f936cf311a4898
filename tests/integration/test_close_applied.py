"""A task whose work is on a branch can be closed; one whose work is nowhere else cannot."""

import pytest

from sandbox import Sandbox


@pytest.fixture
def applied(sandbox: Sandbox) -> Sandbox:
    """A task whose change is on main, with its workspace."""
    sandbox.siding("task", "start", "x")
    sandbox.siding("run", "--no-tty", "--", "sh", "-c", "echo new >new.txt")
    sandbox.siding("apply", "--no-close")
    return sandbox


@pytest.mark.parametrize("act", [("task", "close"), ("worktree", "remove")])
def test_applied_work_is_not_only_in_the_workspace(applied: Sandbox, act: tuple[str, str]) -> None:
    applied.siding(*act)


def test_what_came_after_the_apply_is_only_there(applied: Sandbox) -> None:
    applied.siding("run", "--no-tty", "--", "sh", "-c", "echo more >more.txt")
    said = applied.siding("task", "close", status=1).stderr
    assert b"what changed in task 'x' since it was applied is only in its workspace: 1 " in said
    applied.siding("undo")
    applied.siding("task", "close")


def test_an_apply_that_was_taken_back_does_not_count(applied: Sandbox) -> None:
    applied.siding("undo")
    said = applied.siding("task", "close", status=1).stderr
    assert b"the work of task 'x' is only in its workspace: 1 changed file" in said
    applied.siding("redo")
    applied.siding("task", "close")


def test_an_apply_that_the_branch_has_lost_does_not_count(applied: Sandbox) -> None:
    applied.git("reset", "-q", "--hard", "HEAD~1")
    said = applied.siding("task", "close", status=1).stderr
    assert b"the work of task 'x' is only in its workspace: 1 changed file" in said


def test_files_that_were_written_without_a_commit_are_nowhere_safe(sandbox: Sandbox) -> None:
    sandbox.siding("task", "start", "x")
    sandbox.siding("run", "--no-tty", "--", "sh", "-c", "echo new >new.txt")
    sandbox.siding("apply", "--no-close", "--mode", "patch")
    sandbox.siding("task", "close", status=1)
