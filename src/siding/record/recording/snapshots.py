"""Take and compare the snapshots of one task."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from siding.ground.errors import SidingError
from siding.ground.git.errors import CommandFailed, not_comparable
from siding.ground.git.roots import WorktreeRoot
from siding.ground.ids import Sha
from siding.record.snapshots.changes import CaptureLimits
from siding.record.snapshots.status_look import CaptureRequest
from siding.record.snapshots.store import SnapshotStore
from siding.record.tasks.registry import Workspace

if TYPE_CHECKING:
    from siding.record.ledger.figures import ModeFigures
    from siding.record.place.locks import Hold
    from siding.record.place.project import Project
    from siding.record.snapshots.capture import Capture
    from siding.record.snapshots.expected_tree import ExpectedTree
    from siding.record.snapshots.git_state import GitState
    from siding.record.snapshots.mode_changes import ModeChange
    from siding.record.snapshots.modes import Modes
    from siding.record.snapshots.patches import DiffPart, DiffStat
    from siding.record.snapshots.peek import Peek


def root_of(workspace: Workspace) -> WorktreeRoot:
    """Return the workspace's directory as the registry describes it."""
    return WorktreeRoot(
        path=Path(workspace.path),
        device=workspace.device,
        inode=workspace.inode,
        git_dir=Path(workspace.git_dir) if workspace.git_dir else None,
    )


class TaskSnapshots:
    """The snapshots of one task, and its workspace.

    `hold` is the task's lock, if the caller holds it. Git processes that write inherit the lock, so
    that the task stays locked while they live, even if this process is killed. `beside` has the
    objects of a kept look (`kept_look`); with it, states are only compared.
    """

    def __init__(
        self,
        project: "Project",
        workspace: Workspace,
        *,
        hold: "Hold | None" = None,
        beside: Path | None = None,
    ) -> None:
        self._project = project
        self._workspace = workspace
        self._hold = hold
        self._store: SnapshotStore = project.snapshots
        if beside is not None:
            from siding.record.snapshots.peek import PeekStore

            self._store = PeekStore(self._store, beside)
        self.expected: ExpectedTree | None = None  # what the next capture finds, most likely

    @property
    def store(self) -> SnapshotStore:
        """The project's snapshot store."""
        return self._store

    @property
    def root(self) -> WorktreeRoot:
        """The workspace's directory as the registry describes it."""
        return root_of(self._workspace)

    @property
    def keep_fds(self) -> tuple[int, ...]:
        """The file descriptors that every git process that writes inherits: that of the lock."""
        return () if self._hold is None else (self._hold.fd,)

    def tip(self) -> Sha | None:
        """Return the newest snapshot; None if there is none."""
        return self._store.tip(self._workspace.task_id)

    def capture(self, *, step: str, kind: str, keep: Sequence[Sha] = ()) -> "Capture":
        """Take a snapshot of the workspace. The caller holds the task's lock.

        The commits `keep` of the store live as long as it.
        """
        from siding.record.snapshots.capture import capture

        request = self._request(step=step, kind=kind)
        expected, self.expected = self.expected, None
        return capture(self._store, request._replace(keep=keep, expected=expected))

    def is_in_state(self, state: "GitState") -> bool:
        """Return whether HEAD, the branch, the index and git's small files are as in `state`."""
        from siding.record.snapshots.capture import is_in_state

        return is_in_state(self._store, self._request(step="", kind="look"), state)

    def diff_stat(self, before: str, after: str, paths: Sequence[bytes] = ()) -> "DiffStat":
        """Return the figures of the difference between two snapshots, file by file."""
        from siding.record.snapshots.patches import diff_stat

        with self._told(before, after):
            return diff_stat(self._store, self._parts(before, after), paths=paths)

    def write_patch(self, before: str, after: str, fd: int, paths: Sequence[bytes] = ()) -> None:
        """Write the patch between two snapshots to the file descriptor `fd`, byte for byte."""
        from siding.record.snapshots.patches import write_patch

        with self._told(before, after):
            write_patch(self._store, self._parts(before, after), fd, paths=paths)

    def mode_changes(
        self, before: str, after: str, modes: "Modes | None" = None
    ) -> "list[ModeChange]":
        """Return the paths whose permissions differ between two snapshots.

        `modes` are the permissions of `after`, if they are known; then `after` may be a tree.
        """
        new = Sha(after)
        if before == after:
            return []
        from siding.record.snapshots.mode_changes import TreeState, mode_changes, state_of

        now = TreeState(tree=new, modes=modes) if modes is not None else state_of(self._store, new)
        return mode_changes(self._store, state_of(self._store, Sha(before)), now)

    def mode_figures(self, before: str, after: str, modes: "Modes | None") -> "ModeFigures":
        """Return the figures of what differs between two snapshots besides the files' content.

        `modes` are the permissions of `after`, if they are known.
        """
        from siding.record.ledger.figures import ModeFigures

        if before == after:
            return ModeFigures()
        from siding.record.snapshots.mode_changes import (
            TreeState,
            bare_changes,
            link_changes,
            mode_changes,
            state_of,
        )

        new = Sha(after)
        now = TreeState(new, modes) if modes is not None else state_of(self._store, new)
        then = state_of(self._store, Sha(before))
        return ModeFigures.of(
            mode_changes(self._store, then, now),
            links=len(link_changes(then.modes, now.modes)),
            directories=len(bare_changes(then.modes, now.modes)),
        )

    def link_changes(
        self, before: str, after: str, modes: "Modes | None" = None
    ) -> dict[bytes, tuple[bytes, ...]]:
        """Return the files that are linked to others than before, with their group after it."""
        if before == after:
            return {}
        from siding.record.snapshots.mode_changes import link_changes, state_of

        now = modes if modes is not None else state_of(self._store, Sha(after)).modes
        return link_changes(state_of(self._store, Sha(before)).modes, now)

    def changed_count(self) -> int:
        """Return how many files in the workspace differ from the newest snapshot; write nothing."""
        from siding.record.snapshots.status_look import changed_count

        self._project.require_repository()
        return changed_count(self._store, self._request(step="", kind="look"))

    def write_patch_counted(self, before: str, after: str, fd: int) -> "DiffStat":
        """Write the patch between two snapshots to the file descriptor `fd`; return its figures."""
        from siding.record.snapshots.patches import write_patch_counted

        with self._told(before, after):
            return write_patch_counted(self._store, self._parts(before, after), fd)

    @contextmanager
    def peek(self) -> Iterator[tuple["Peek", "TaskSnapshots"]]:
        """Yield the current state of the workspace, and the snapshots with which to compare it.

        Takes no lock. The state is stored in a temporary directory that is deleted at the end.
        """
        with self.look() as found:
            view = TaskSnapshots(self._project, self._workspace)
            view._store = found.store
            yield found, view

    @contextmanager
    def look(self) -> Iterator["Peek"]:
        """Yield the current state of the workspace, including what a snapshot would leave out."""
        from siding.record.snapshots.peek import peek

        self._project.require_repository()
        unique = self._project.app.random_bytes(8).hex()
        with peek(self._store, self._request(step="", kind="look"), unique=unique) as found:
            yield found

    @contextmanager
    def _told(self, before: str, after: str) -> Iterator[None]:
        """Replace git's error about an unreadable object by one that says which snapshot is gone.

        What cannot be read may have been freed.
        """
        try:
            yield
        except CommandFailed as error:
            from siding.record.recording.freed import refuse_freed

            refuse_freed(self._project, "one of the two states", before, after)
            raise not_comparable(before, after, error.message) from error

    def _parts(self, before: str, after: str) -> "list[DiffPart]":
        """Return the parts of a comparison.

        A submodule that was checked out between the two snapshots is a part of its own.
        """
        from siding.record.snapshots.patches import DiffPart

        workspace = self._workspace
        git_dir = Path(workspace.git_dir) if workspace.git_dir else None
        if git_dir is None or not (git_dir / "modules").is_dir():
            return [DiffPart(before, after)]
        from siding.record.snapshots.submodules import filled_between

        root = Path(workspace.path)
        filled = filled_between(self._store, root, git_dir, Sha(before), Sha(after))
        whole = DiffPart(before, after, without=tuple(each.path for each in filled))
        parts = (DiffPart(e.old, e.new, below=e.path, objects=e.objects) for e in filled)
        return [whole, *parts]

    def _request(self, *, step: str, kind: str) -> CaptureRequest:
        settings = self._project.settings
        task_id = self._workspace.task_id
        root = root_of(self._workspace)
        return CaptureRequest(
            task_id=task_id,
            root=root,
            git_dir=root.git_dir,
            branch=self._workspace.branch,
            step=step,
            kind=kind,
            at=int(self._project.app.clock.now().timestamp()),
            limits=CaptureLimits(max_file_bytes=settings.max_file_size, ignored=settings.ignored),
            documents=self._documents,
            keep_fds=self.keep_fds,
            of_sandbox=self._of_sandbox(),
        )

    def _documents(self) -> Mapping[str, bytes]:
        """Return the task's documents that go with its state, by their names."""
        from siding.record.phases.documents import read_documents

        return read_documents(self._project.task_layout(self._workspace.task_id).root)

    def _of_sandbox(self) -> Path | None:
        """Return the git directory of a sandboxed run that lives in the workspace."""
        layout = self._project.task_layout(self._workspace.task_id)
        if not layout.sandbox_lock.exists():
            return None
        from siding.record.unfinished.sandbox_commits import living_quarantine

        living = living_quarantine(layout)
        return None if living is None else living.copy


def tidy_store(project: "Project") -> None:
    """Join the packs of the snapshot store if there are many, one command at a time."""
    if not project.snapshots.has_many_packs():
        return
    from siding.ground.storage.locks import FileLock, LockBusy
    from siding.record.snapshots.store_upkeep import tidy

    lock = FileLock(project.layout.lock("snapshots"))
    try:
        lock.acquire(timeout_s=0)
    except LockBusy:
        return  # another command is joining them
    try:
        tidy(project.snapshots)
    except SidingError:
        return  # many packs are only slower; the next step tries again
    finally:
        lock.release()
