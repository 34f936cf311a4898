"""Errors of git work. A front end shows the message and the hint, and catches by class."""

from collections.abc import Sequence

from siding.ground.errors import NotFound, SidingError


class GitError(SidingError):
    """A git command failed, or its result is not as expected."""

    code = "git"


class GitMissing(GitError):
    """There is no git program on the search path."""

    code = "git_missing"
    exit_code = 127


class CommandFailed(GitError):
    """A git command ended with a status that means failure to its caller.

    `stderr` is kept for people. Code must not decide by its text, which changes between versions.
    """

    code = "git_command"

    def __init__(self, doing: str, argv: Sequence[str], returncode: int, stderr: bytes) -> None:
        self.argv, self.returncode, self.stderr = tuple(argv), returncode, stderr
        said = "; ".join(said_by(stderr)) or "it said nothing"
        super().__init__(
            f"{doing}: git ended with status {returncode}: {said}",
            hint="see to what git says, and run it again; `siding doctor` tells what may be left",
        )


class NotARepository(GitError):
    """No git repository holds this place."""

    code = "not_a_repository"


class NoCommits(GitError):
    """The repository has no commit, so that there is nothing to start from."""

    code = "no_commits"


class UnknownRevision(NotFound):
    """A revision names no commit."""

    code = "unknown_revision"


class BranchExists(GitError):
    """A branch of this name is there already."""

    code = "branch_exists"


class BranchInUse(GitError):
    """The branch is checked out in another worktree."""

    code = "branch_in_use"


class WorkspaceReplaced(GitError):
    """The directory is no longer the one that was recorded: moved away, or a link put there."""

    code = "workspace_replaced"


class WorkspaceMissing(WorkspaceReplaced):
    """The directory is not there."""

    code = "workspace_missing"


class SnapshotDamaged(GitError):
    """A snapshot, or the store that holds it, is not whole."""

    code = "snapshot_damaged"


class DriverOff(GitError):
    """A filter or merge driver of the repository is needed that nobody trusted. Nothing was
    changed."""

    code = "driver_off"
    exit_code = 5  # as where a person would be asked, and nobody is there


def not_comparable(old: str, new: str, said: str) -> SnapshotDamaged:
    """Return the error for two snapshots of which one is lost or damaged."""
    return SnapshotDamaged(
        f"snapshots {old[:10]} and {new[:10]} cannot be compared, one is lost or damaged: {said}",
        hint="`siding verify` names what is lost; `siding doctor` lets the recording go on",
    )


class SnapshotFailed(GitError):
    """The state of the workspace could not be recorded; the last snapshot still stands."""

    code = "snapshot_failed"


def said_by(stderr: bytes) -> list[str]:
    """Return git's messages by line, at most 8, without hints and warnings about our settings."""
    lines = stderr.decode("utf-8", "backslashreplace").splitlines()
    kept = [line.strip() for line in lines if line.strip()]
    return [
        line
        for line in kept
        if not line.startswith("hint:") and "core.fsyncObjectFiles" not in line
    ][:8]
