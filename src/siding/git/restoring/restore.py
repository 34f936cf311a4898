"""Restore a worktree to the tree of a snapshot, by comparing two trees.

The paths to write and to delete are known exactly before anything is changed: they are the paths
that differ between the snapshot taken just now and the one to restore. Files that no snapshot holds
(ignored, too large, special) are in neither tree, so nothing here touches them. If one of them is
where a file has to be written, `obstacles` reports it and nothing is done at all.

The contents are written first, beside the worktree and flushed: a disk that is full or fails is
noticed while the worktree is still as it was. What then remains are unlinks and renames, each of
which leaves its path either what it was or what it shall be. Every step into a directory is taken
through a descriptor with O_NOFOLLOW: a symlink planted anywhere on the way is an obstacle, never a
way out of the worktree. Cut off in between, a restoration can be planned and carried out again.
"""

import errno
import os
import stat
from collections.abc import Collection, Sequence
from contextlib import suppress
from enum import StrEnum
from pathlib import Path

from siding.git.paths import is_selected, is_under, parents
from siding.git.restoring.staging import GITLINK, NOTHING, Staged
from siding.git.roots import WorktreeRoot, check_root
from siding.git.snapshots.modes import ModeChange, Modes
from siding.git.snapshots.patches import Change
from siding.git.treewalk import OpenTree
from siding.namedtuples import NamedTuple

_STILL_IN_USE = (errno.ENOTEMPTY, errno.ENOENT, errno.ENOTDIR, errno.EEXIST)


class Why(StrEnum):
    """Why a path that differs stays as it is."""

    REPOSITORY = "a repository of its own"
    NOT_CAPTURED = "not captured by the snapshot"
    IGNORED = "ignored there"
    FOREIGN = "its permissions are another user's to change"


class LeftPath(NamedTuple):
    """A path that differs and is not touched."""

    path: bytes
    why: Why


class Restoration(NamedTuple):
    """The changes of a restoration. Paths are in byte order; no path is in two lists.

    `chmods` are paths that get other permissions and no other content. `modes` are the permissions
    of the restored snapshot, None if they were not recorded.
    """

    writes: tuple[Change, ...]
    deletes: tuple[Change, ...]
    left: tuple[LeftPath, ...]
    directories: tuple[bytes, ...]  # empty ones that belong there
    chmods: tuple[ModeChange, ...] = ()
    modes: Modes | None = None


def plan_restoration(
    changes: Sequence[Change],
    *,
    unknown: Collection[bytes] = (),
    ignored: Collection[bytes] = (),
    paths: Sequence[bytes] = (),
    directories: Sequence[bytes] = (),
    mode_changes: Sequence[ModeChange] = (),
    modes: Modes | None = None,
) -> Restoration:
    """Return the restoration that turns the old side of `changes` into the new one.

    `unknown` are paths that either snapshot did not capture, `ignored` those that are ignored by
    the rules of the new side: both are left as they are. `paths` limits it to these and what is
    below them; none means everything. `directories` are the empty ones of the new side, `modes` its
    permissions, `mode_changes` what else differs in these.
    """
    untouchable = set(unknown)
    writes: list[Change] = []
    deletes: list[Change] = []
    left: list[LeftPath] = []
    for change in sorted(changes, key=lambda each: each.path):
        if not is_selected(change.path, paths):
            continue
        if GITLINK in (change.old_mode, change.new_mode):
            left.append(LeftPath(path=change.path, why=Why.REPOSITORY))
        elif change.path in untouchable or any(p in untouchable for p in parents(change.path)):
            left.append(LeftPath(path=change.path, why=Why.NOT_CAPTURED))
        elif change.new_mode != NOTHING:
            writes.append(change)
        elif change.path in ignored:
            left.append(LeftPath(path=change.path, why=Why.IGNORED))
        else:
            deletes.append(change)
    empty = [path for path in directories if is_selected(path, paths)]
    empty += [c.path for c in changes if c.new_mode == GITLINK and is_selected(c.path, paths)]
    done = {*(change.path for change in writes), *(each.path for each in left)}
    chmods = [
        each
        for each in mode_changes
        if is_selected(each.path, paths)
        and each.path not in done
        and (each.is_directory or each.path not in untouchable)
    ]
    return Restoration(
        writes=tuple(writes),
        deletes=tuple(deletes),
        left=tuple(left),
        directories=tuple(sorted(empty)),
        chmods=tuple(chmods),
        modes=modes,
    )


def restore(root: WorktreeRoot, plan: Restoration, staged: Staged) -> None:
    """Carry `plan` out with the contents in `staged`; durable on return.

    The caller holds the task's lock, has the present state in a snapshot, and has looked for
    `obstacles`. Raises WorkspaceReplaced when the root is not the recorded directory.
    """
    check_root(root)
    with OpenTree(root.path, private=plan.modes is not None) as tree:
        _narrow(tree, plan)
        touched = _delete(tree, [change.path for change in plan.deletes], plan.directories)
        for number, change in enumerate(plan.writes):
            _put(tree, change.path, staged, number)
            touched.add(os.path.dirname(change.path))
        for path in plan.directories:
            touched |= _make_empty(tree, path)
        tree.flush(touched)
        _set_modes(tree, plan)


def move_out(root: WorktreeRoot, paths: Sequence[bytes], aside: Path) -> list[bytes]:
    """Rename what is at `paths` into the directory `aside`, under the same names; durable.

    Returns the paths that were there. Directories that this empties are taken away. `aside` is on
    the worktree's file system.
    """
    check_root(root)
    aside.mkdir(mode=0o700, parents=True, exist_ok=True)
    with OpenTree(root.path) as tree, OpenTree(aside, private=True) as target:
        moved = [path for path in paths if _move(tree, target, path)]
        target.lock_again()
        target.flush({above for path in moved for above in (*parents(path), b"")})
        touched = {os.path.dirname(path) for path in moved}
        _prune(tree, touched, keep=())
        tree.lock_again()
        tree.flush(touched)
    return moved


def listed(directory: Path) -> list[bytes]:
    """Return every file and link below a directory; none when it is not there."""
    found: list[bytes] = []
    if directory.is_dir():
        with OpenTree(directory) as tree:
            waiting = [b""]
            while waiting:
                for path, is_directory in tree.listing(waiting.pop()):
                    (waiting if is_directory else found).append(path)
    return found


def move_in(root: WorktreeRoot, aside: Path) -> tuple[list[bytes], list[bytes]]:
    """Reverse `move_out`: return what came back, and what stays because its place is taken."""
    check_root(root)
    if not aside.is_dir():
        return [], []
    moved: list[bytes] = []
    stays: list[bytes] = []
    with OpenTree(aside) as source, OpenTree(root.path, private=True) as tree:
        waiting = [b""]
        while waiting:
            directory = waiting.pop()
            for path, is_directory in source.listing(directory):
                if is_directory and tree.is_directory(path):
                    waiting.append(path)
                elif not _move(source, tree, path):
                    stays.append(path)
                else:
                    moved.append(path)
        tree.lock_again()
        tree.flush({os.path.dirname(path) for path in moved})
        source.flush({os.path.dirname(path) for path in moved})
    for parent, _directories, _files in os.walk(aside, topdown=False):
        with suppress(OSError):  # what stays there keeps its directory
            os.rmdir(parent)
    return sorted(moved), sorted(stays)


def _narrow(tree: OpenTree, plan: Restoration) -> None:
    """Take permissions that others lose away from directories, before files are put into them.

    The owner keeps all of its permissions until the end, to be able to work in them.
    """
    for change in sorted(plan.chmods):
        if not change.is_directory:
            continue
        present = tree.mode(change.path)
        if present is not None and stat.S_ISDIR(present):
            with suppress(PermissionError):  # it shows in the end that it is not as planned
                tree.set_mode(change.path, stat.S_IMODE(present) & change.after | 0o700)


def _set_modes(tree: OpenTree, plan: Restoration) -> None:
    """Set all permissions durably, the deepest paths first."""
    wanted = {change.path: (change.after, change.is_directory) for change in plan.chmods}
    final = {path: (mode, True) for path, mode in tree.unlocked.items()}
    if plan.modes is not None:
        final |= {path: (plan.modes.of_directory(path), True) for path in tree.made}
    changed: list[bytes] = []
    for path, (mode, is_directory) in sorted((final | wanted).items(), reverse=True):
        present = tree.mode(path)
        expected = stat.S_IFDIR if is_directory else stat.S_IFREG
        if present is None or stat.S_IFMT(present) != expected or stat.S_IMODE(present) == mode:
            continue
        with suppress(PermissionError):  # it shows in the end that it is not as planned
            tree.set_mode(path, mode)
            changed.append(path)
    tree.unlocked.clear()
    tree.flush_modes(changed)


def _delete(tree: OpenTree, paths: Sequence[bytes], keep: Collection[bytes]) -> set[bytes]:
    """Unlink the paths, then the directories that this has emptied; return those touched."""
    touched: set[bytes] = set()
    for path in paths:
        directory, name = os.path.split(path)
        try:
            os.unlink(name, dir_fd=tree.writable(directory))
        except (FileNotFoundError, NotADirectoryError):
            continue
        touched.add(directory)
    _prune(tree, touched, keep)
    return touched


def _prune(tree: OpenTree, touched: set[bytes], keep: Collection[bytes]) -> None:
    """Remove those of these directories, and of their parents, that are empty; update `touched`."""
    for directory in sorted(touched | {p for t in touched for p in parents(t)}, reverse=True):
        if not directory or directory in keep:
            continue
        above, name = os.path.split(directory)
        try:
            os.rmdir(name, dir_fd=tree.writable(above))
        except OSError as error:
            if error.errno not in _STILL_IN_USE:
                raise
            continue
        tree.forget(directory)
        touched.discard(directory)
        touched.add(above)


def _put(tree: OpenTree, path: bytes, staged: Staged, number: int) -> None:
    """Rename a staged entry into its place, over what is there."""
    above, name = os.path.split(path)
    _clear_directory(tree, path, tree.make(above))
    os.rename(staged.name(number), name, src_dir_fd=staged.fd, dst_dir_fd=tree.writable(above))


def _clear_directory(tree: OpenTree, path: bytes, above: int) -> None:
    """Remove an empty directory that stands where a file shall be; `obstacles` saw to the rest."""
    try:
        os.rmdir(os.path.basename(path), dir_fd=above)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        for below, _is_directory in tree.listing(path):
            _clear_directory(tree, below, tree.writable(path))
        above = tree.writable(os.path.dirname(path))
        os.rmdir(os.path.basename(path), dir_fd=above)
    tree.forget(path)


def _make_empty(tree: OpenTree, path: bytes) -> set[bytes]:
    """Make an empty directory where nothing is; something else in its place is left alone."""
    if tree.exists(path):
        return set()
    try:
        tree.make(path)
    except (FileExistsError, NotADirectoryError):
        return set()
    return {path, os.path.dirname(path)}


def _copy_modes(source: OpenTree, target: OpenTree, directory: bytes) -> None:
    """Give the directories that were made on the way the modes they have in the source."""
    for made in target.made:
        if is_under(directory, made) and (mode := source.unlocked.get(made, source.mode(made))):
            target.set_mode(made, stat.S_IMODE(mode) | 0o700)
            target.unlocked.setdefault(made, stat.S_IMODE(mode))
    target.made.clear()


def _move(source: OpenTree, target: OpenTree, path: bytes) -> bool:
    above, name = os.path.split(path)
    try:
        from_fd = source.writable(above)
        os.stat(name, dir_fd=from_fd, follow_symlinks=False)
    except (FileNotFoundError, NotADirectoryError):
        return False
    if target.exists(path):
        return False
    try:
        to_fd = target.make(above)
    except (FileExistsError, NotADirectoryError):
        return False
    _copy_modes(source, target, above)
    present = source.mode(path) or 0
    is_locked = stat.S_ISDIR(present) and not present & stat.S_IWUSR
    if is_locked:  # a directory has to be writable to get another parent
        source.set_mode(path, stat.S_IMODE(present) | 0o700)
    os.rename(name, name, src_dir_fd=from_fd, dst_dir_fd=to_fd)
    if is_locked:
        target.set_mode(path, stat.S_IMODE(present))
    source.forget(path)
    return True
