"""The part of a state that does not lie in the workspace's files.

HEAD, the tip of the task's branch, the index, the small files of an unfinished merge, rebase,
cherry-pick, revert, `git am` or bisect, and the task's own documents that go with a state (its
phases). A snapshot says in its message where HEAD and the tip were. The rest is recorded only where
there is something to say: as a commit whose message lists what the index has differently from HEAD,
the small files and the documents. Its tree has their contents, and its parents are the commits that
the small files name, so that all of it lives as long as the snapshot. It is a parent of the
snapshot, which names it in its message (``Git: <id>``).
"""

import re

from siding.ground.git.objects import Commit
from siding.ground.git.paths import quote_path, unquote_path
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple

SANDBOX = "sandbox/"  # before the names of files in the git directory of a sandboxed run
DETACHED = "(detached)"  # no branch can have this name
_TRAILER = re.compile(r"^(Head|Branch|Tip|Git): (.+)$", re.MULTILINE)
_ZERO = Sha("0" * 40)


class GitState(NamedTuple):
    """Where HEAD and the task's branch are, and the commit that holds the details.

    `branch` is what HEAD is on, without ``refs/heads/``; None if it is detached. `tip` is None if
    the task's branch is gone. `details` is None if there are none.
    """

    head: Sha | None
    branch: str | None
    tip: Sha | None
    details: Sha | None

    def trailers(self) -> str:
        """Return the lines of a snapshot's message; ``Head:`` is written by `heads.py`."""
        branch = DETACHED if self.branch is None else quote_path(name_bytes(self.branch))
        return (
            f"\nBranch: {branch}"
            + ("" if self.tip == self.head else f"\nTip: {self.tip or _ZERO}")
            + (f"\nGit: {self.details}" if self.details else "")
        )


def state_in(commit: Commit) -> GitState | None:
    """Return what a snapshot says; None if it was made before this was recorded."""
    said = dict(_TRAILER.findall(commit.message))
    named = said.get("Branch")
    if named is None:
        return None
    head = said.get("Head")
    tip = said.get("Tip", head)
    return GitState(
        head=Sha(head) if head else None,
        branch=None if named == DETACHED else name_text(unquote_path(named)),
        tip=None if tip in (None, _ZERO) else Sha(str(tip)),
        details=Sha(said["Git"]) if "Git" in said else None,
    )


def state_of(commit: Commit, *, base: Sha, branch: str) -> GitState:
    """Return what a snapshot says, or what may be taken for it.

    A snapshot of before this was recorded, and the one that a task begins with, say at most where
    HEAD was. HEAD was at the task's base if they do not, and on the task's branch as a rule.
    """
    found = state_in(commit)
    if found is not None:
        return found
    said = dict(_TRAILER.findall(commit.message)).get("Head")
    head = Sha(said) if said else base
    return GitState(head=head, branch=branch, tip=head, details=None)


def name_bytes(name: str) -> bytes:
    """Return the name of a file or branch as git has it."""
    return name.encode("utf-8", "surrogateescape")


def name_text(name: bytes) -> str:
    """Return a name of git's as text; `name_bytes` returns it as it was."""
    return name.decode("utf-8", "surrogateescape")
