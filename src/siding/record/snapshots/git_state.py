"""The part of a state that does not lie in the workspace's files.

HEAD, the tip of the task's branch, the index, the small files of an unfinished merge, rebase,
cherry-pick, revert, `git am` or bisect, and the task's own documents that go with a state (its
phases). A snapshot says in its message where HEAD and the tip were. The rest is recorded only where
there is something to say: as a commit whose message lists what the index has differently from HEAD,
the small files and the documents (`git_details.py`). Its tree has their contents, and its parents
are the commits that the small files name, so that all of it lives as long as the snapshot. It is a
parent of the snapshot, which names it in its message (``Git: <id>``).

When the agent commits, amends, rebases or resets, its commits stay in the user's repository only
while a ref or reflog there names them. So each snapshot taken after HEAD moved (`heads_since`) has
the commits that HEAD went through as further parents, and they are copied into the snapshot
store.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path

from siding.ground.errors import counted
from siding.ground.git.objects import Commit
from siding.ground.git.paths import quote_path, unquote_path
from siding.ground.git.refs import Head, as_sha, head_of
from siding.ground.ids import Sha, TaskId
from siding.ground.namedtuples import NamedTuple
from siding.record.snapshots.store import SnapshotStore

SANDBOX = "sandbox/"  # before the names of files in the git directory of a sandboxed run
DETACHED = "(detached)"  # no branch can have this name
_TRAILER = re.compile(r"^(Head|Branch|Tip|Git): (.+)$", re.MULTILINE)
_ZERO = Sha("0" * 40)
_KEPT_AT_ONCE = 50
_REFLOG_READ = 1 << 20
_HEAD = re.compile(r"^(Head|Reflog): (\S+)$", re.MULTILINE)


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
        """Return the lines of a snapshot's message; ``Head:`` is in those of `MovedHeads`."""
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


def recorded_state(store: SnapshotStore, task_id: TaskId, branch: str, snapshot: Sha) -> GitState:
    """Return the git state of a snapshot of a task; raises SnapshotDamaged if it is lost.

    `branch` is the task's.
    """
    return state_of(store.read_commit(snapshot), base=store.base(task_id), branch=branch)


def name_bytes(name: str) -> bytes:
    """Return the name of a file or branch as git has it."""
    return name.encode("utf-8", "surrogateescape")


def name_text(name: bytes) -> str:
    """Return a name of git's as text; `name_bytes` returns it as it was."""
    return name.decode("utf-8", "surrogateescape")


class MovedHeads(NamedTuple):
    """Where HEAD is, and the commits it went through since the last snapshot, newest first.

    ``reflog`` is how many bytes of HEAD's log have been looked at.
    """

    head: Sha | None
    heads: tuple[Sha, ...]
    reflog: int
    branch: str | None = None  # what HEAD is on, without `refs/heads/`; None if it is detached

    def trailers(self) -> str:
        """Return the lines of a snapshot's message from which the next one goes on."""
        return (f"\nHead: {self.head}" if self.head else "") + f"\nReflog: {self.reflog}"


def heads_since(
    store: SnapshotStore, task_id: TaskId, git_dir: Path | None, last: Commit
) -> MovedHeads:
    """Return what HEAD of the worktree did since the snapshot whose commit is `last`."""
    said = dict(_HEAD.findall(last.message))
    before, seen = said.get("Head"), int(said.get("Reflog", "0"))
    if git_dir is None:
        return MovedHeads(head=Sha(before) if before else None, heads=(), reflog=seen)
    head = head_now(store, git_dir)
    passed, reflog = _reflog_since(git_dir / "logs" / "HEAD", seen)
    candidates = [head.sha, *reversed(passed)] if head.sha else list(reversed(passed))
    known = {before, store.base(task_id)}
    heads = [sha for sha in dict.fromkeys(candidates) if sha not in known][:_KEPT_AT_ONCE]
    return MovedHeads(
        head=head.sha,
        heads=_not_kept(store, task_id, heads),
        reflog=reflog,
        branch=head.branch,
    )


def head_now(store: SnapshotStore, git_dir: Path) -> Head:
    """Return what the worktree has checked out."""
    return head_of(store.git, git_dir, store.repository.common_dir)


def head_in(message: str) -> Sha | None:
    """Return where HEAD was when a snapshot was taken, from the message of its commit."""
    said = dict(_HEAD.findall(message)).get("Head")
    return Sha(said) if said else None


def _not_kept(store: SnapshotStore, task_id: TaskId, heads: Sequence[Sha]) -> tuple[Sha, ...]:
    """Return those of the commits that no snapshot has kept yet."""
    if not heads:
        return ()
    known = [store.base(task_id), store.tip(task_id) or ""]
    done = store.git.attempt(store.place(), ["rev-list", *heads, "--not", *known])
    if done.returncode:  # one of them is gone: what can be kept shows when it is tried
        return tuple(heads)
    new = set(done.stdout.decode("ascii").split())
    return tuple(sha for sha in heads if sha in new)


def keep_commits(
    store: SnapshotStore,
    task_id: TaskId,
    tip: Sha,
    moved: MovedHeads,
    *,
    keep_fds: Sequence[int],
) -> tuple[tuple[Sha, ...], tuple[str, ...]]:
    """Copy the commits into the store; returns those that are kept and what could not be.

    The caller flushes the directory of packs.
    """
    heads = moved.heads
    if not heads:
        return (), ()
    exclude = f"^{store.base(task_id)}\n^{tip}\n"
    for attempt in (heads, (moved.head,) if moved.head in heads else ()):
        if not attempt:
            continue
        done = store.git.attempt(
            store.place(),
            ["pack-objects", "-q", "--revs", "--non-empty", str(store.objects / "pack" / "pack")],
            stdin=("".join(f"{sha}\n" for sha in attempt) + exclude).encode("ascii"),
            keep_fds=keep_fds,
        )
        if done.returncode == 0:
            kept = tuple(Sha(sha) for sha in attempt if sha)
            lost = len(heads) - len(kept)
            note = (
                (f"gone already: {counted(lost, 'commit')} that HEAD went through",) if lost else ()
            )
            return kept, note
    return (), ("the commits that HEAD went through could not be copied",)


def _reflog_since(path: Path, seen: int) -> tuple[list[Sha], int]:
    """Return the commits that HEAD came to after the first `seen` bytes of its log."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return [], seen
    try:
        size = os.fstat(fd).st_size
        start = seen if seen <= size else 0
        data = os.pread(fd, _REFLOG_READ, max(start, size - _REFLOG_READ))
    except OSError:
        return [], seen
    finally:
        os.close(fd)
    passed = []
    for line in data.split(b"\n"):
        words = line.split(b" ", 2)
        if len(words) == 3 and (sha := as_sha(words[1])) and sha.strip("0"):
            passed.append(sha)
    return passed, size
