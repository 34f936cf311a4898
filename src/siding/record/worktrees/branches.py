"""A task's branch: what it has and who uses it; make it again, and switch a worktree to it."""

import os
from collections.abc import Iterable
from pathlib import Path

from siding.ground.files.durable import flush_dir, flush_file
from siding.ground.files.regular import read_small
from siding.ground.git import refs
from siding.ground.git.command import EMAIL, IDENTITY, Place, output_of
from siding.ground.git.errors import BranchExists, CommandFailed, GitError, NoCommits
from siding.ground.git.repository import Repository
from siding.ground.ids import Sha, TaskId
from siding.record.snapshots.store import SnapshotStore
from siding.record.worktrees.listing import worktrees

_LOG_READ = 1 << 20


def commits_without(repository: Repository, tip: Sha, others: Iterable[str]) -> int:
    """Return how many commits in the history of `tip` are in none of the others' histories.

    Raises CommandFailed if one of the commits is not there.
    """
    known = list(dict.fromkeys(others))
    if tip in known:
        return 0
    output = repository.git.run(
        Place(git_dir=repository.paths.common_dir),
        ["rev-list", "--count", tip, "--not", *known, "--"],
        doing="counting the commits of the branch",
    )
    return int(output)


def checkout_with(repository: Repository, branch: str) -> Path | None:
    """Return where a branch is checked out or being rebased; None if that is nowhere."""
    common = repository.paths.common_dir
    for info in worktrees(repository):
        # One whose directory is not there counts, too: it may lie on a disk that is not mounted.
        if info.path is None and not info.main:
            continue  # half-made: nothing can be checked out in it
        head = info.head or repository.head(info.git_dir)
        where = info.path or common
        if head.branch == branch:
            return where
        for name in ("rebase-merge", "rebase-apply"):
            named = read_small(info.git_dir / name / "head-name", 4096) or b""
            if named.strip() == os.fsencode(f"refs/heads/{branch}"):
                return where
    return None


def is_ours(repository: Repository, branch: str, task_id: TaskId) -> bool:
    """Tell whether Siding made this branch for the task.

    The name ends with the task's id, and if the log of the branch still says who made it, it was
    Siding.
    """
    if not branch.endswith(f"-{task_id}"):
        return False
    path = repository.paths.common_dir / "logs/refs/heads" / branch
    first = (read_small(path, _LOG_READ) or b"").partition(b"\n")[0]
    before, _, rest = first.partition(b" ")
    if not before or before.strip(b"0"):
        return True  # there is no log, or its beginning has expired
    return f"{IDENTITY} <{EMAIL}>".encode() in rest.partition(b"\t")[0]


def is_kept(store: SnapshotStore, task_id: TaskId, tip: Sha) -> bool:
    """Tell whether the task's snapshots lead to a commit, with all of it in our own store.

    What the task's base has does not count: a ref keeps that alive.
    """
    newest = store.tip(task_id)
    if newest is None:
        return False
    place, base = store.place(), store.base(task_id)
    beyond = store.git.attempt(place, ["rev-list", "-n1", tip, "--not", newest, base, "--"])
    if beyond.returncode or beyond.stdout.strip():
        return False
    listing = ["rev-list", "--objects", "--no-object-names", tip, "--not", base, "--"]
    listed = store.git.attempt(place, listing)
    if listed.returncode:
        return False
    needed = listed.stdout.decode("ascii").split()
    return not set(needed) - store.present(needed)


def make_branch(repository: Repository, branch: str, tip: Sha) -> None:
    """Make a branch that is not there; raise GitError if that fails or it is there already."""
    refs.check_ref_part(branch)
    done = repository.git.attempt(
        Place(git_dir=repository.paths.common_dir, settings=("core.logAllRefUpdates=always",)),
        ["update-ref", "-m", "siding: brought back", f"refs/heads/{branch}", tip, "0" * len(tip)],
    )
    if repository.branch(branch) != tip:
        try:
            output_of(done, doing=f"making branch {branch} again")
        except CommandFailed as error:
            raise GitError(error.message) from error


def begin_branch(repository: Repository, git_dir: Path, branch: str, *, reason: str) -> Sha:
    """Make a branch at the worktree's HEAD and switch the worktree to it; return the commit.

    Raises BranchExists if there is one of that name, and NoCommits if HEAD has no commit. The
    caller has written down the name, so that `leave_branch` can take it back after a crash.
    """
    refs.check_ref_part(branch)
    head = repository.head(git_dir).sha
    if head is None:
        raise NoCommits("the workspace has no commit checked out")
    if repository.branch(branch) is not None:
        raise BranchExists(f"there is a branch {branch!r} already", hint="rename that one first")
    nothing = "0" * len(head)  # there must be no such branch yet
    repository.git.run(
        Place(git_dir=repository.paths.common_dir),
        ["update-ref", "--create-reflog", "-m", reason, f"refs/heads/{branch}", head, nothing],
        doing=f"making branch {branch}",
    )
    _point(repository, git_dir, branch, reason)
    return head


def leave_branch(
    repository: Repository, git_dir: Path, branch: str, before: str, *, reason: str
) -> None:
    """Take `begin_branch` back: switch to the branch of before, and delete the new one.

    Safe to repeat. A branch that somebody has committed to meanwhile is left as it is.
    """
    made, old = repository.branch(branch), repository.branch(before)
    if made is None:
        return
    if repository.head(git_dir).branch == branch:
        if old != made:
            return
        _point(repository, git_dir, before, reason)
    if old == made:
        repository.delete_branch(branch, made)


def _point(repository: Repository, git_dir: Path, branch: str, reason: str) -> None:
    repository.git.run(
        Place(git_dir=git_dir, common_dir=repository.paths.common_dir),
        ["symbolic-ref", "-m", reason, "HEAD", f"refs/heads/{branch}"],
        doing=f"switching the workspace to {branch}",
    )
    if (git_dir / "HEAD").is_file():  # `git symbolic-ref` does not flush it
        flush_file(git_dir / "HEAD")
        flush_dir(git_dir)
