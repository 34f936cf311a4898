"""Read what a worktree has checked out, in any ref format."""

import os
from pathlib import Path

from siding.git.command import Git, Place
from siding.git.refs import Head, HeadState, as_sha, read_head


def head_of(git: Git, git_dir: Path, common_dir: Path) -> Head:
    """Return what a worktree has checked out; asks git only where refs are not files."""
    found = read_head(git_dir, common_dir)
    if found is not None:
        return found
    place = Place(git_dir=git_dir, common_dir=common_dir)
    named = git.attempt(place, ["symbolic-ref", "-q", "HEAD"])
    shown = git.attempt(place, ["rev-parse", "--verify", "-q", "HEAD^{commit}"])
    sha = as_sha(shown.stdout.strip())
    if named.returncode == 0:
        branch = os.fsdecode(named.stdout.strip()).removeprefix("refs/heads/")
        return Head(state=HeadState.BRANCH if sha else HeadState.UNBORN, branch=branch, sha=sha)
    return Head(state=HeadState.DETACHED, branch=None, sha=sha)
