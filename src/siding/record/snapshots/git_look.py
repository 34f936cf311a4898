"""Look into a workspace's git directory, and store what `git_details.py` describes.

Nothing there is changed. While the index, HEAD and git's small files are as at the last look no
process is started: what was stored then is in a cache, the file ``git`` in the task's directory of
the store.
"""

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from siding.ground.files.regular import read_small
from siding.ground.git import cache_file
from siding.ground.git.command import Place
from siding.ground.git.errors import CommandFailed, SnapshotDamaged
from siding.ground.hashing import sha256_hex
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.record.snapshots.git_state import SANDBOX
from siding.record.snapshots.store import SnapshotStore

LARGEST_FILE = 1 << 20  # bytes
MOST_FILES = 500  # with the directories that they are in
_FORM = "git-look-2"
# What a git command leaves while it is unfinished. Directories with all that is in them.
_UNFINISHED = frozenset(
    """
    MERGE_HEAD MERGE_MODE MERGE_MSG MERGE_AUTOSTASH AUTO_MERGE SQUASH_MSG CHERRY_PICK_HEAD
    REVERT_HEAD REBASE_HEAD BISECT_START BISECT_LOG BISECT_TERMS BISECT_NAMES BISECT_RUN BISECT_HEAD
    BISECT_EXPECTED_REV BISECT_ANCESTORS_OK BISECT_FIRST_PARENT rebase-merge rebase-apply sequencer
    """.split()
)
_REFS = ("refs/bisect", "refs/rewritten")  # those of one worktree
_LOST = "what is staged, or a git command that is under way, could not be recorded"


class StoredDetails(NamedTuple):
    """The commit that holds the details, None if there are none; and what could not be recorded."""

    commit: Sha | None
    notes: tuple[str, ...] = ()


class GitLook:
    """One look into the git directory of a worktree, and where it is stored."""

    def __init__(
        self,
        store: SnapshotStore,
        memory: Path,
        git_dir: Path,
        root: Path,
        *,
        of_sandbox: Path | None = None,
        keep_fds: Sequence[int] = (),
    ) -> None:
        self._store = store
        self._memory = memory
        self._keep_fds = keep_fds
        self._git_dir = git_dir
        self._of_sandbox = of_sandbox  # the git directory of a sandboxed run that lives
        self._place = Place(git_dir=git_dir, common_dir=store.repository.common_dir, work_tree=root)

    def store_details(
        self,
        head: Sha | None,
        *,
        tip: Sha,
        before: Sha | None,
        documents: Mapping[str, bytes],
        at: int,
    ) -> StoredDetails:
        """Store how the index differs from HEAD, git's small files, and the task's `documents`.

        All of it is durable, but for packs. `tip` is the last snapshot: its commits are in the
        store already. `before` is the commit with its details, if it has any; it is returned if
        nothing differs from it. `at` is in seconds since 1970.
        """
        try:
            return self._store_details(head, tip, before, documents, at)
        except (CommandFailed, SnapshotDamaged, OSError, ValueError):
            return StoredDetails(None, (_LOST,))

    def _store_details(
        self,
        head: Sha | None,
        tip: Sha,
        before: Sha | None,
        documents: Mapping[str, bytes],
        at: int,
    ) -> StoredDetails:
        mark = _mark(self._git_dir / "index")
        small = dict(_small_files(self._git_dir))
        if self._of_sandbox is not None:
            inside = dict(_small_files(self._of_sandbox)).items()
            small |= {f"{SANDBOX}{name}": data for name, data in inside if small.get(name) != data}
        files = [*sorted(small.items()), *sorted(documents.items())]
        key = [mark, head, sha256_hex(repr(files).encode())]
        known = cache_file.load(self._memory, _FORM)
        # A commit that the last snapshot does not name may be gone: that capture had failed.
        if (
            mark is not None
            and known is not None
            and known[0] == key
            and known[1] in (None, before)
        ):
            return StoredDetails(None if known[1] is None else before)
        from siding.record.snapshots.git_details import GitDetails, GitDetailsStore

        writer = GitDetailsStore(self._store, self._place, self._git_dir, self._keep_fds)
        entries = None if mark is None else writer.entries(head)
        details = GitDetails(entries, writer.written(small), writer.written(documents))
        if details.is_plain:
            commit = None
        elif before is not None and self._store.read_commit(before).message == details.text():
            commit = before
        else:
            commit = writer.write(details, small, tip, at)
        cache_file.keep(self._memory, _FORM, lambda _now: [key, commit])
        return StoredDetails(commit)


def _small_files(git_dir: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the files of an unfinished git command, by their names in the git directory."""
    names = [name for name in os.listdir(git_dir) if name in _UNFINISHED]
    waiting = [*names, *_REFS]
    left = MOST_FILES
    while waiting:
        name = waiting.pop()
        path = git_dir / name
        left -= 1
        if left < 0:
            raise ValueError("what git has left there is not small")
        try:
            found = os.lstat(path)
        except FileNotFoundError:
            continue
        if stat.S_ISDIR(found.st_mode):
            waiting += [f"{name}/{each}" for each in os.listdir(path)]
        elif stat.S_ISREG(found.st_mode):
            data = read_small(path, LARGEST_FILE + 1)
            if data is None or len(data) > LARGEST_FILE:
                raise ValueError(f"{name} is not small")
            yield name, data


def _mark(index: Path) -> list[int | str] | None:
    """Return numbers that differ between two contents of an index; None if there is no index.

    The last is the hash at its end, which git may be told to leave out: then it is random, so that
    no index counts as known.
    """
    try:
        fd = os.open(index, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        found = os.fstat(fd)
        end = os.pread(fd, 20, max(0, found.st_size - 20))
    finally:
        os.close(fd)
    seal = end.hex() if end.strip(b"\0") else os.urandom(8).hex()
    return [found.st_ino, found.st_size, found.st_mtime_ns, seal]
