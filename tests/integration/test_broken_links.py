"""A workspace whose link to git is gone: it is mended before anything runs there, or nothing runs.

Siding's home is in a repository here, as where somebody keeps dotfiles in one.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from prepared import prepared
from sandbox import Sandbox

BROKEN = b"git does not know the workspace of task 'x'"
RUN = ("run", "--no-tty", "--", "sh", "-c")
WHERE = "git rev-parse --show-toplevel --abbrev-ref HEAD; git log -1 --format=%s; git status -s"


def _worked(sandbox: Sandbox) -> None:
    """A task with a commit of its own, below a repository that is another one."""
    sandbox.git("init", "-q", str(sandbox.directory))
    sandbox.siding("-q", "task", "start", "x")
    sandbox.siding("-q", *RUN, "echo work >w.txt; git add -A; git commit -qm work")


@pytest.fixture
def worked() -> Sandbox:
    return prepared(_worked)


def delete(workspace: Path, _sandbox: Sandbox) -> None:
    (workspace / ".git").unlink()


def prune(workspace: Path, sandbox: Sandbox) -> None:
    """Lose git's record of the workspace, which is elsewhere for a moment."""
    away = workspace.rename(workspace.with_name("away"))
    sandbox.git("worktree", "prune", "--expire=now")
    away.rename(workspace)


def point_elsewhere(workspace: Path, sandbox: Sandbox) -> None:
    (workspace / ".git").write_text(f"gitdir: {sandbox.directory}/.git\n")


def link(workspace: Path, sandbox: Sandbox) -> None:
    (workspace / ".git").unlink()
    (workspace / ".git").symlink_to(sandbox.directory / ".git")


def detach_and_prune(workspace: Path, sandbox: Sandbox) -> None:
    sandbox.siding("-q", *RUN, "git checkout -q --detach")
    prune(workspace, sandbox)


@pytest.mark.parametrize("how", [delete, prune, point_elsewhere, link, detach_and_prune])
def test_the_link_is_mended_before_a_run(
    worked: Sandbox, how: Callable[[Path, Sandbox], None]
) -> None:
    workspace = worked.workspace()
    how(workspace, worked)
    # Also where nothing but the directory says which project it is of.
    assert b"siding/x-" in worked.siding("status", cwd=workspace).stdout
    done = worked.siding(*RUN, WHERE, cwd=workspace)
    assert done.stderr.count(BROKEN) == 1
    top, branch, *rest = done.stdout.decode().split()
    assert (top, rest) == (str(workspace), ["work"])
    assert branch == ("HEAD" if how is detach_and_prune else f"siding/x-{workspace.name}")
    assert BROKEN not in worked.siding("retry").stderr
    assert worked.siding("doctor").stdout == b"everything agrees\n"


def test_what_a_sparse_checkout_leaves_out_is_not_deleted(sandbox: Sandbox) -> None:
    sandbox.git("sparse-checkout", "set", "--no-cone", "/hello.txt")
    sandbox.siding("-q", "task", "start", "x")
    prune(sandbox.workspace(), sandbox)
    done = sandbox.siding(*RUN, "git add -A; git status -s; ls")
    assert done.stdout == b"hello.txt\n"


def test_nothing_runs_where_a_repository_was_made_in_the_workspace(worked: Sandbox) -> None:
    workspace = worked.workspace()
    worked.siding(*RUN, "rm .git; git init -q; git commit -q --allow-empty -m lost")
    for how in (("run", "--", "touch", "ran"), ("run", "--no-record", "--", "touch", "ran")):
        done = worked.siding(*how, status=1)
        assert BROKEN in done.stderr
        assert b"is a repository of its own" in done.stderr
        assert f"mv {workspace}/.git".encode() in done.stderr
    assert BROKEN in worked.siding("run", "--", "true", cwd=workspace, status=1).stderr
    assert not (workspace / "ran").exists()
    worked.siding("checkpoint")  # what does not run anything works
    (workspace / ".git").rename(worked.directory / "made")
    assert worked.siding(*RUN, WHERE).stdout.decode().split()[0] == str(workspace)


def test_a_branch_that_was_taken_meanwhile_is_named(worked: Sandbox) -> None:
    workspace = worked.workspace()
    prune(workspace, worked)
    worked.git("checkout", "-q", f"siding/x-{workspace.name}")
    said = worked.siding("run", "--", "true", status=1).stderr
    assert BROKEN in said
    assert f"is checked out at '{worked.repo}'".encode() in said
    worked.git("checkout", "-q", "main")
    assert BROKEN in worked.siding("run", "--", "true").stderr


def test_git_in_a_run_finds_no_repository_around(worked: Sandbox) -> None:
    """Not even in the run that deletes the link, and through a home that is a symbolic link."""
    (worked.directory / "siding").rename(worked.directory / "real")
    (worked.directory / "siding").symlink_to("real")
    for theirs in ("", "/somewhere", "/some::where"):
        done = worked.siding(
            *RUN,
            "echo $GIT_CEILING_DIRECTORIES; rm -f .git; git add -A || git rev-parse HEAD",
            status=128,
            env={"GIT_CEILING_DIRECTORIES": theirs} if theirs else {},
        )
        assert done.stdout.decode().startswith(f"{theirs}:" if theirs else "/")
        assert b"not a git repository" in done.stderr + done.stdout
