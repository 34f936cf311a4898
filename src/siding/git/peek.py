"""The state of a worktree without recording it: for a look that must not leave a trace.

Works beside a capture or a running agent: it takes no lock and writes only into a directory of its
own, which it removes.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from siding.git.capture import Request, Work
from siding.git.command import Place
from siding.git.coverage import Coverage
from siding.git.errors import CommandFailed, SnapshotFailed
from siding.git.modes import Modes
from siding.git.roots import check_root
from siding.git.scratch import scratch
from siding.git.store import PEEKS, SnapshotStore, TaskDirectory
from siding.ids import Sha

_COPIED = ("commondir", "HEAD", "base", "excludes", "gitlinks", "sparse", "index", "modes")


class Peek(NamedTuple):
    """A tree that is nobody's snapshot; `store` reads it, as long as the peek lasts."""

    tree: Sha
    store: "PeekStore"
    coverage: Coverage
    modes: Modes | None


class PeekStore(SnapshotStore):
    """The snapshot store with the objects of one peek beside its own."""

    def __init__(self, store: SnapshotStore, incoming: Path) -> None:
        super().__init__(store.git, store.root, store.repository)
        self._incoming = incoming

    def place(self, task: TaskDirectory | None = None, **more: object) -> Place:
        place = super().place(task, **more)
        return place._replace(alternates=(*place.alternates, self._incoming))


@contextmanager
def peek(store: SnapshotStore, request: Request, *, unique: str) -> Iterator[Peek]:
    """Yield the worktree's present tree. `unique` names the scratch directory.

    Raises as `capture` does.
    """
    check_root(request.root)
    task = store.task(request.task_id)
    from shutil import copy2  # and with it three compressors

    try:
        with scratch(store.root / PEEKS / unique) as place:
            own = TaskDirectory(path=place, ref=task.ref)
            for name in _COPIED:
                try:
                    copy2(task.path / name, place / name)
                except FileNotFoundError:
                    continue  # the first capture makes it
            work = Work(store, request, task=own)
            try:
                tree = work.present_tree()
            except CommandFailed:  # a power cut may have torn the index: it can be made again
                work.start_over()
                tree = work.present_tree()
            yield Peek(
                tree=tree,
                store=PeekStore(store, own.incoming),
                coverage=work.coverage,
                modes=work.looked.modes if work.looked else None,
            )
    except FileNotFoundError as error:
        raise SnapshotFailed(f"the workspace could not be looked at: {error}") from error
