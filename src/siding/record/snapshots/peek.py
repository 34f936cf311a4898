"""Peek: find the present tree of a worktree without recording a snapshot.

A peek takes no lock, so it works beside a capture or a running agent. It writes only into a
temporary directory of its own, which is outside Siding's home if the home is full or read-only.
"""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from shutil import copy2

from siding.ground.git.command import Place
from siding.ground.git.errors import CommandFailed, SnapshotFailed
from siding.ground.git.roots import check_root
from siding.ground.ids import Sha
from siding.ground.namedtuples import NamedTuple
from siding.record.snapshots.coverage import Coverage
from siding.record.snapshots.modes import Modes
from siding.record.snapshots.scratch import (
    NO_ROOM,
    elsewhere,
    has_room,
    nowhere,
    place_for,
    scratch,
)
from siding.record.snapshots.status_look import CaptureRequest
from siding.record.snapshots.store import PEEKS, SnapshotStore, TaskDirectory
from siding.record.snapshots.tree_look import TreeLook

_COPIED = ("HEAD", "base", "excludes", "gitlinks", "sparse", "index", "modes")


class Peek(NamedTuple):
    """The present tree of a worktree. `store` can read it until the `with` block of `peek` ends.

    `ignored` are all paths that git ignores and no snapshot has.
    """

    tree: Sha
    store: "PeekStore"
    coverage: Coverage
    modes: Modes | None
    ignored: tuple[bytes, ...] = ()


class PeekStore(SnapshotStore):
    """The snapshot store with the objects of one peek beside its own."""

    def __init__(self, store: SnapshotStore, incoming: Path) -> None:
        super().__init__(store.git, store.root, store.repository)
        self._store = store  # which may have others beside its own
        self.incoming = incoming

    def place(self, task: TaskDirectory | None = None, **more: object) -> Place:
        place = self._store.place(task, **more)
        return place._replace(alternates=(*place.alternates, self.incoming))


@contextmanager
def peek(store: SnapshotStore, request: CaptureRequest, *, unique: str) -> Iterator[Peek]:
    """Yield the worktree's present tree. `unique` names the scratch directory.

    Raises as `capture` does, and NoRoom when there is nowhere to write.
    """
    check_root(request.root)
    place = place_for(store, PEEKS, unique)
    with ExitStack() as stack:
        try:
            found = _look(stack, store, request, place)
        except (OSError, CommandFailed) as error:
            other = elsewhere(store, unique)
            is_full = isinstance(error, OSError) and error.errno in NO_ROOM
            is_full = is_full or not has_room(store.root)
            if not is_full or other is None or place == other:
                raise _told(error) from error
            stack.close()
            try:
                found = _look(stack, store, request, other)
            except OSError as again:
                raise _told(again) from again
        yield found


def _look(stack: ExitStack, store: SnapshotStore, request: CaptureRequest, directory: Path) -> Peek:
    """Look from a directory that is made, and removed when the stack ends."""
    task = store.task(request.task_id)
    place = stack.enter_context(scratch(directory))
    own = TaskDirectory(path=place, ref=task.ref)
    for name in _COPIED:
        try:
            copy2(task.path / name, place / name)
        except FileNotFoundError:
            continue  # the first capture makes it
    (place / "commondir").write_bytes(os.fsencode(store.root) + b"\n")
    work = TreeLook(store, request, task=own)
    try:
        tree = work.present_tree()
    except CommandFailed:  # a power cut may have torn the index: it can be made again
        work.start_over()
        tree = work.present_tree()
    return Peek(
        tree=tree,
        store=PeekStore(store, own.incoming),
        coverage=work.coverage,
        modes=work.looked.modes if work.looked else None,
        ignored=work.ignored,
    )


def _told(error: OSError | CommandFailed) -> Exception:
    """Return how a look that failed is told."""
    if isinstance(error, FileNotFoundError):
        return SnapshotFailed(f"the workspace could not be looked at: {error}")
    if isinstance(error, OSError) and error.errno in NO_ROOM:
        return nowhere(error)
    return error
