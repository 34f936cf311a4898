"""A branch and a tag, or a branch of a remote, with one name: work starts from the branch."""

from pathlib import Path

import pytest

from sandbox import Sandbox

BOTH = b"'main' is a branch and a tag; the branch is taken (refs/tags/main names the tag)"


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    """A repository whose tag `main` is one commit behind the branch."""
    made = Sandbox(tmp_path)
    made.git("tag", "-a", "-m", "old", "main")
    made.git("update-ref", "refs/remotes/side", "HEAD")
    (made.repo / "new.txt").write_text("new\n")
    made.git("add", "-A")
    made.git("commit", "-qm", "second")
    made.git("branch", "side", "refs/heads/main")
    return made


def base_of(sandbox: Sandbox, task: str) -> str:
    found = sandbox.json("task", "show", task, "--format", "json")["base_commit"]
    assert isinstance(found, str)
    return found


def test_tasks_start_from_the_branch(sandbox: Sandbox) -> None:
    tip, tag = sandbox.git("rev-parse", "refs/heads/main", "refs/tags/main^{commit}").split()
    assert BOTH not in sandbox.siding("task", "start", "standing").stderr
    assert BOTH in sandbox.siding("task", "start", "named", "--base", "main").stderr
    said = sandbox.siding("task", "start", "remote", "--base", "side").stderr
    assert b"'side' is a branch and a remote branch" in said
    sandbox.siding("task", "start", "before", "--base", "main~1")
    (sandbox.project / "config.yaml").write_text("git: {default_base: main}\n")
    assert BOTH in sandbox.siding("task", "start", "set").stderr
    for task in ("standing", "named", "remote", "set"):
        assert base_of(sandbox, task) == tip
    assert base_of(sandbox, "before") == tag
    sandbox.siding("task", "start", "from", "--from", "commit:main")
    assert sandbox.git("rev-parse", "HEAD", cwd=sandbox.workspace("from")) == tag


def test_what_is_brought_in_and_adopted_goes_by_the_branch(sandbox: Sandbox) -> None:
    tip, tag = sandbox.git("rev-parse", "refs/heads/main", "refs/tags/main^{commit}").split()
    sandbox.git("worktree", "add", "-q", "-b", "mine", "../mine", tip)
    adopted = sandbox.siding("worktree", "adopt", "../mine", "--base", "main").stderr
    assert BOTH in adopted
    assert base_of(sandbox, "mine") == tip
    sandbox.git("checkout", "-q", "--detach", tag)
    sandbox.siding("task", "start", "late")
    assert BOTH in sandbox.siding("sync", "--onto", "main").stderr
    assert (sandbox.workspace("late") / "new.txt").exists()
