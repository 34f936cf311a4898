"""Ask git what is not as the last snapshot has it: one `git status`, and nothing is recorded.

git is asked with the task's own index. It is asked once more if it could not read all of the
workspace. Git goes on without a directory that cannot be read. It warns if the directory cannot be
opened, and its files would count as deleted. If reading fails half-way, git takes that for the end
of the directory and says nothing: new files in it would be missing without a word. The scan of the
directories has their names, and each must be in git's answer or in its index.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from siding.ground.files.regular import read_small
from siding.ground.git.command import Git, Place, output_of
from siding.ground.git.errors import SnapshotDamaged
from siding.ground.git.index_file import read_gitlinks, read_times
from siding.ground.git.paths import join, parents
from siding.ground.git.roots import WorktreeRoot, check_root
from siding.ground.git.status import ARGUMENTS, StatusEntry, parse, renewed_excludes
from siding.ground.ids import Sha, TaskId
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.capture import Completed
from siding.record.snapshots.changes import CaptureLimits, IndexPlan, plan
from siding.record.snapshots.directory_scan import Scan, scan_tree
from siding.record.snapshots.store import SnapshotStore, TaskDirectory

if TYPE_CHECKING:
    from siding.record.snapshots.expected_tree import ExpectedTree

_INDEX_LIMIT = 2 << 30
_WRITING = (
    "core.bigFileThreshold=32m",  # larger files are streamed into a pack, never read whole
    "core.looseCompression=0",  # loose objects live until the pack is made: a moment
    "pack.compression=1",
)
_LOOKING = "looking for changes"
STATUS = (*ARGUMENTS, "--ignored=matching", "--ignore-submodules=dirty")


class TaskIndex:
    """One task's index, with the worktree it stands for."""

    def __init__(self, store: SnapshotStore, task: TaskDirectory, root: Path) -> None:
        self.store = store
        self.git = store.git
        self.task = task
        self.root = os.fsencode(root)
        self.sparse = bool(read_small(task.sparse, 100))
        self._work_tree = root

    def place(self, **more: object) -> Place:
        """Return how git works on this index: all that can be read is read."""
        alternates = [self.store.repository.objects]
        if self.task.incoming.is_dir():
            alternates.append(self.task.incoming)
        settings = [*self.store.place().settings, f"core.excludesFile={self.task.excludes}"]
        if self.sparse:
            settings.append("core.sparseCheckout=true")
        place = self.store.place(
            self.task,
            work_tree=self._work_tree,
            alternates=tuple(alternates),
            settings=(*settings, *_WRITING),
            locks=True,
        )
        return place._replace(**more)  # type: ignore[arg-type]

    def renew_excludes(self) -> None:
        """Bring the patterns up to date with the files that they were copied from."""
        copy = read_small(self.task.excludes)
        if copy is not None and (now := renewed_excludes(copy)) != copy:
            from siding.ground.files.durable import replace_bytes

            replace_bytes(self.task.excludes, now)  # also beside another command

    def data(self) -> bytes:
        """Return the bytes of the index file. git replaces the file as a whole."""
        return read_small(self.task.index_file, _INDEX_LIMIT) or b""

    def gitlinks(self) -> dict[bytes, str]:
        """Return the entries that stand for submodules, with the commit each names."""
        return read_gitlinks(self.data(), self.store.repository.hash_size // 2)


class Look(NamedTuple):
    """What git said. ``gitlinks`` are the index entries that stand for submodules. ``unlisted`` are
    files that are there, and that git did not name when it was asked twice."""

    entries: list[StatusEntry]
    gitlinks: Mapping[bytes, str]
    unlisted: tuple[bytes, ...] = ()


def look_through(
    index: TaskIndex, place: Place, arguments: Sequence[str], done: Completed, scan: Scan
) -> Look:
    """Return what a finished `git status` printed; git looks once more if it lacks files.

    A file may also have come after git had read its directory, as an agent works meanwhile.
    """
    first = Look(list(parse(looked(index.git, place, arguments, done))), index.gitlinks())
    if not _still_there(index, _unlisted(index, scan, first)):
        return first
    again = output_of(index.git.attempt(place, arguments), doing=_LOOKING)
    second = Look(list(parse(again)), index.gitlinks())
    return second._replace(unlisted=_still_there(index, _unlisted(index, scan, second)))


def looked(git: Git, place: Place, arguments: Sequence[str], done: Completed) -> bytes:
    """Return what a finished `git status` printed. If it has warned, git looks once more.

    A disk that failed for a moment answers now; one that fails for good stops our own look.
    """
    if done.returncode == 0 and _has_warned(done.stderr):
        done = git.attempt(place, arguments)
    return output_of(done, doing=_LOOKING)


def _has_warned(stderr: bytes) -> bool:
    """Tell whether git said more than that a setting of ours is deprecated (an older git needs it).

    Another wording only costs a second look.
    """
    return any(b"deprecated" not in line for line in stderr.splitlines())


def _still_there(index: TaskIndex, paths: list[bytes]) -> tuple[bytes, ...]:
    return tuple(path for path in paths if os.path.lexists(join(index.root, path)))


def _unlisted(index: TaskIndex, scan: Scan, look: Look) -> list[bytes]:
    """Return the files in directories that the scan has read which git does not name.

    An index that cannot be read here (another version of its form) says nothing.
    """
    if not scan.files:
        return []
    named = {entry.path for entry in look.entries}
    # git names a directory that is ignored, and a repository in the worktree, but not its files.
    whole = {path.rstrip(b"/") for path in named if path.endswith(b"/")} | look.gitlinks.keys()
    left = sorted(path for path in _files(scan, whole) if path not in named)
    data = index.data()
    if _are_entries(left, data):
        return []
    entries = read_times(data, index.store.repository.hash_size // 2)
    return [] if entries is None else [path for path in left if path not in entries]


def _files(scan: Scan, whole: set[bytes]) -> Iterator[bytes]:
    """Yield the files of the directories that are not in `whole`, nor below one that is."""
    for directory, names in scan.files.items():
        if whole and not whole.isdisjoint((directory, *parents(directory))):
            continue
        for name in names.split(b"\0"):
            yield join(directory, name) if directory else name


def _are_entries(paths: list[bytes], data: bytes) -> bool:
    """Tell whether each of the sorted paths stands in an index file, in one pass over its bytes.

    Its entries are sorted as well; each has the length of its path before it and a NUL behind. An
    entry with other flags ends the pass: then the file has to be read in full.
    """
    at = 0
    for path in paths:
        at = data.find(min(len(path), 0xFFF).to_bytes(2, "big") + path + b"\0", at)
        if at < 0:
            return False
    return True


class CaptureRequest(NamedTuple):
    """What to capture and how to name it.

    ``git_dir`` is the worktree's git directory in the user's repository: its HEAD and reflog
    tell which commits the agent made. ``branch`` is the task's. ``at`` is in seconds since 1970.
    ``documents`` returns the task's documents that go with its state, by their names. ``keep_fds``
    stay open in every git process that writes: one of them holds the task's lock, so that a git
    that outlives us keeps it. ``keep`` are commits of the store that live as long as the snapshot.
    ``of_sandbox`` is the git directory of a sandboxed run that lives in the worktree. ``expected``
    is what a restoration has just brought the index to.
    """

    task_id: TaskId
    root: WorktreeRoot
    git_dir: Path | None
    branch: str
    step: str
    kind: str
    at: int
    limits: CaptureLimits
    documents: Callable[[], Mapping[str, bytes]] = dict
    keep_fds: Sequence[int] = ()
    keep: Sequence[Sha] = ()
    of_sandbox: Path | None = None
    expected: "ExpectedTree | None" = None


class StatusLook:
    """A look at the worktree, and what the last snapshot of its task is.

    `task` is a copy of the task's directory in the store: a look with it leaves that one unchanged.
    """

    index: TaskIndex

    def __init__(
        self, store: SnapshotStore, request: CaptureRequest, *, task: TaskDirectory | None = None
    ) -> None:
        self.store = store
        self.git = store.git
        self.request = request
        self.task: TaskDirectory = task or store.task(request.task_id)
        tip = store.tip(request.task_id)
        if tip is None:
            raise SnapshotDamaged(
                f"the snapshots of task {request.task_id!r} are missing",
                hint="`siding doctor` begins them anew and says what cannot be gone back to",
            )
        self.tip: Sha = tip
        self.last = store.read_commit(tip)
        self.root = os.fsencode(request.root.path)
        self.index = self.open_index()

    def open_index(self) -> TaskIndex:
        """Return the task's index, as far as this look works with it."""
        return TaskIndex(self.store, self.task, self.request.root.path)

    def changed_count(self) -> int:
        """Return how many paths are not as the last snapshot has them; nothing else is written."""
        with suppress(OSError):  # where nothing can be written, as the patterns were
            self.index.renew_excludes()
        place = self.index.place(locks=False)
        running = self.git.start(place, STATUS)
        scan = scan_tree(self.root, self.task.seen, keeps=False)
        look = look_through(self.index, place, STATUS, running.finish(), scan)
        made = self.plan(look.entries, look.gitlinks)
        return len(made.update) + len(made.drop) + len(look.unlisted)

    def plan(self, entries: list[StatusEntry], gitlinks: Mapping[bytes, str]) -> IndexPlan:
        limits = self.request.limits
        return plan(self.root, self._without_sparse(entries), gitlinks, limits)

    def _without_sparse(self, entries: list[StatusEntry]) -> list[StatusEntry]:
        """Leave out deletions that are only a sparse checkout made narrower."""
        git_dir = self.request.git_dir
        if git_dir is None or not any(entry.unstaged == "D" for entry in entries):
            return entries
        from siding.record.snapshots.seeding import sparse_paths

        excused = set(sparse_paths(self.store, git_dir))
        return [e for e in entries if e.unstaged != "D" or e.path not in excused]


def changed_count(store: SnapshotStore, request: CaptureRequest) -> int:
    """Return how many paths differ from the last snapshot; one git process, nothing written."""
    check_root(request.root)
    return StatusLook(store, request).changed_count()
