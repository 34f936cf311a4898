"""Keep the agent's own commits with the snapshots.

A snapshot holds files. When the agent commits, amends, rebases or resets, its commits stay in the
user's repository only while a ref or reflog there names them. So each snapshot taken after HEAD
moved has the commits that HEAD went through as further parents, and they are copied into the
snapshot store.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path

from siding.ground.git.objects import Commit
from siding.ground.git.refs import Head, as_sha, head_of
from siding.ground.ids import Sha, TaskId
from siding.ground.namedtuples import NamedTuple
from siding.record.snapshots.store import SnapshotStore

_KEPT_AT_ONCE = 50
_REFLOG_READ = 1 << 20
_TRAILER = re.compile(r"^(Head|Reflog): (\S+)$", re.MULTILINE)


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
    said = dict(_TRAILER.findall(last.message))
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
    said = dict(_TRAILER.findall(message)).get("Head")
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
            note = (f"{lost} commits that HEAD went through are gone already",) if lost else ()
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
