"""Names of branches, where git makes a file of one and a directory of another."""

import pytest

from integration.undo.desk import Desk
from siding.ground.git.errors import BranchExists
from siding.ground.git.repository import Repository


@pytest.fixture
def repository(desk: Desk) -> Repository:
    """A repository with the branches main, a, a-x and b/c."""
    for name in ("a", "a-x", "b/c"):
        desk.sandbox.git("branch", name)
    return desk.project.repository


@pytest.mark.parametrize(
    ("name", "free"),
    [
        ("n", "n"),
        ("n/m/o", "n/m/o"),
        ("b/x", "b/x"),
        ("main/x", "main-x"),
        ("main/x/y", "main-x/y"),
        ("b/c/x", "b/c-x"),
        ("b/c/x/y/z", "b/c-x/y/z"),
        ("a/x", "a-x"),
        ("a/x/y", "a-x-y"),  # a-x is a branch as well
    ],
)
def test_a_dash_stands_for_each_slash_behind_a_branch(
    repository: Repository, name: str, free: str
) -> None:
    assert repository.free_branch_name(name) == free


@pytest.mark.parametrize(
    ("name", "in_the_way"),
    [("a/x", "a"), ("b/c/x/y", "b/c"), ("b", "b/c"), ("a", ""), ("b/c", ""), ("n/m", "")],
)
def test_a_branch_that_git_could_not_make_is_refused_with_the_one_in_the_way(
    repository: Repository, name: str, in_the_way: str
) -> None:
    if not in_the_way:
        repository.refuse_blocked_branch(name)
        return
    with pytest.raises(BranchExists, match=f"^branch '{in_the_way}' is in the way of '{name}'"):
        repository.refuse_blocked_branch(name)
