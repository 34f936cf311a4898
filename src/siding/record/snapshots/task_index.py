"""A task's own git index as git looks at it: with which files and settings, and what is in it."""

import os
from pathlib import Path

from siding.ground.files.regular import read_small
from siding.ground.git.command import Place
from siding.ground.git.index_file import read_gitlinks
from siding.ground.git.status import renewed_excludes
from siding.record.snapshots.store import SnapshotStore, TaskDirectory

_INDEX_LIMIT = 2 << 30
_WRITING = (
    "core.bigFileThreshold=32m",  # larger files are streamed into a pack, never read whole
    "core.looseCompression=0",  # loose objects live until the pack is made: a moment
    "pack.compression=1",
)


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
