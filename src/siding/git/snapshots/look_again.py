"""Git's look at a workspace, once more if git could not read all of it."""

from collections.abc import Sequence

from siding.git.command import Git, Place, output_of
from siding.process.capture import Completed


def looked(git: Git, place: Place, arguments: Sequence[str], done: Completed) -> bytes:
    """Return what a finished `git status` printed. If it has warned, git looks once more.

    Git goes on without a directory that cannot be read, and its files would count as deleted. A
    disk that failed for a moment answers now; one that fails for good stops our own look.
    """
    if done.returncode == 0 and _has_warned(done.stderr):
        done = git.attempt(place, arguments)
    return output_of(done, doing="looking for changes")


def _has_warned(stderr: bytes) -> bool:
    """Tell whether git said more than that a setting of ours is deprecated (an older git needs it).

    Another wording only costs a second look.
    """
    return any(b"deprecated" not in line for line in stderr.splitlines())
