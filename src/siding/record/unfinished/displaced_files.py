"""Where the files go that an apply replaces, and what becomes of all that was displaced."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from siding.ground.files.attributes import mount_of
from siding.ground.ids import TaskId
from siding.record.files.displaced import (
    drop_recorded,
    keep_unrecorded,
    names_of,
    read_names,
    remove_if_empty,
)
from siding.record.moving.model import Move
from siding.record.place.project import Project
from siding.record.place.trash import fresh_trash
from siding.record.snapshots.scratch import has_room

if TYPE_CHECKING:
    from siding.record.ledger.move_details import ApplyDetail
    from siding.record.moving.model import Move


def with_aside(project: Project, task_id: TaskId, move: "Move") -> "Move":
    """Return the move with a directory for what it displaces, on the checkout's file system.

    That is a place in the project's trash; if this is on another file system, a directory in the
    checkout's git directory or, in a linked worktree, in the checkout itself.
    """
    if move.checkout is None:
        return move
    place = move.checkout
    name = f"siding-{move.token}"
    trash = project.layout.root / fresh_trash(project.app, task_id)
    mount = _mount_of(place.root)
    for holder, aside in ((project.layout.root, trash), (place.git_dir, place.git_dir / name)):
        if _mount_of(holder) == mount:
            return move._replace(aside=aside)
    return move._replace(aside=place.root / f".{name}")


def _mount_of(path: Path) -> tuple[int, str]:
    """Return what two directories have in common if files can be renamed between them.

    That is the file system and, since Linux renames nothing between two mounts of one, the mount.
    """
    return os.stat(path).st_dev, mount_of(path)


def spare_room(project: Project, directory: Path) -> None:
    """Delete displaced files that the snapshots hold if the disk has little room.

    They would be gone soon anyhow, with `siding gc`, and what follows needs room.
    """
    if directory.is_dir() and not has_room(project.layout.root):
        drop_displaced(project, directory)
        remove_if_empty(directory)


def drop_displaced(project: Project, directory: Path) -> int:
    """Delete the displaced files in a directory that git holds and nobody writes; return their
    bytes."""
    store = project.snapshots
    known = read_names(directory).values()
    zeros = {"0" * store.repository.hash_size}
    shas = {sha for each in known for sha in (each.sha, each.new_sha)} - zeros
    held = store.present(sorted(shas), with_base=True) | zeros if shas else zeros
    return drop_recorded(directory, store.repository.object_format, held)


def told(project: Project, move: "Move", detail: "ApplyDetail") -> "ApplyDetail":
    """Give versions that others wrote meanwhile their names; return the detail with these.

    Outside of the trash, where `siding gc` does not look, all other displaced files are deleted.
    """
    if move.aside is None or move.checkout is None or not move.displaced.is_dir():
        return detail
    object_format = project.snapshots.repository.object_format
    kept = keep_unrecorded(move.displaced, object_format)
    home = project.layout.root
    if move.aside.is_relative_to(home):
        place = os.fspath(move.aside.relative_to(home))
        spare_room(project, move.displaced)
    else:
        place = os.fspath(move.aside)
        drop_displaced(project, move.displaced)
    is_gone = remove_if_empty(move.displaced)
    return detail._replace(displaced="" if is_gone else place, kept=names_of(kept, place))
