"""Ask git what is not as the last snapshot has it: one `git status`, and nothing is recorded."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from siding.ground.git.errors import SnapshotDamaged
from siding.ground.git.roots import WorktreeRoot, check_root
from siding.ground.git.status import ARGUMENTS, StatusEntry
from siding.ground.ids import Sha, TaskId
from siding.ground.namedtuples import NamedTuple
from siding.record.snapshots.changes import CaptureLimits, IndexPlan, plan
from siding.record.snapshots.directory_scan import scan_tree
from siding.record.snapshots.look_again import look_through
from siding.record.snapshots.store import SnapshotStore, TaskDirectory
from siding.record.snapshots.task_index import TaskIndex

if TYPE_CHECKING:
    from siding.record.snapshots.expected_tree import ExpectedTree

STATUS = (*ARGUMENTS, "--ignored=matching", "--ignore-submodules=dirty")


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
