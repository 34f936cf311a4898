"""Restore a worktree to the tree of a snapshot, by comparing two trees.

The contents are written first, beside the worktree and flushed: a disk that is full or fails is
noticed while the worktree is still as it was. What then remains are exchanges and renames, each of
which leaves its path either what it was or what it shall be. Nothing in the worktree is overwritten
or unlinked: what was there when its turn came is in the staging directory afterwards, also if it
was written a moment before (`displaced.py`). Every step into a directory is taken through a
descriptor with O_NOFOLLOW: a symlink planted anywhere on the way is an obstacle, never a way out of
the worktree. Cut off in between, a restoration can be planned and carried out again.
"""

import errno
import os
import stat
from collections.abc import Callable, Collection
from contextlib import suppress
from itertools import count

from siding.ground.files.durable import flush_names
from siding.ground.files.exchange import Entry, put, rename_new
from siding.ground.git.paths import parents
from siding.ground.git.roots import WorktreeRoot, check_root
from siding.ground.git.treewalk import OpenTree
from siding.record.files.plan import Restoration
from siding.record.files.staging import Staged

# The last three: a mount point, or in a directory that is another user's.
STAYS = (
    *(errno.ENOTEMPTY, errno.ENOENT, errno.ENOTDIR, errno.EEXIST),
    *(errno.EBUSY, errno.EACCES, errno.EPERM),
)


class Journal:
    """The changes that were made in a worktree, in order. `at` is the path that is worked on."""

    def __init__(self, tree: OpenTree) -> None:
        self._tree = tree
        self._steps: list[Callable[[], bool]] = []
        self.at = b""

    def moved_out(self, path: bytes, aside: Entry) -> None:
        """A file was renamed to `aside`."""
        self._steps.append(lambda: self._move_in(path, aside))

    def put(self, path: bytes, new: Entry, *, displaced: bool) -> None:
        """`new` was put into the place of `path`; `displaced`: something was there."""
        identity = _identity(self._place(path))
        self._steps.append(lambda: self._take_out(path, new, identity, displaced=displaced))

    def removed(self, path: bytes, mode: int) -> None:
        """An empty directory was removed."""
        self._steps.append(lambda: self._make(path, mode))

    def made(self, path: bytes) -> None:
        """An empty directory was made."""
        self._steps.append(lambda: self._remove(path))

    def changed_mode(self, path: bytes, before: int) -> None:
        """A file or directory got other permissions; `before` are those it had."""
        self._steps.append(lambda: self._set_mode(path, before))

    def take_back(self) -> bool:
        """Undo all changes, the last one first; return whether all of it is as it was.

        What others wrote meanwhile stays, here or in the staging directory: then it is not.
        """
        whole = True
        for step in reversed(self._steps):
            try:
                whole = step() and whole
            except OSError:
                whole = False
        self._steps.clear()
        self._tree.lock_again()
        return whole

    def _place(self, path: bytes) -> Entry:
        above, name = os.path.split(path)
        return Entry(self._tree.writable(above), name)

    def _move_in(self, path: bytes, aside: Entry) -> bool:
        rename_new(aside, self._place(path))
        return True

    def _take_out(
        self, path: bytes, new: Entry, identity: tuple[int, int], *, displaced: bool
    ) -> bool:
        place = self._place(path)
        if displaced:
            put(_last_name(new), place)
            return _identity(new) == identity or _identity(_last_name(new)) == identity
        rename_new(place, new)
        return _identity(new) == identity

    def _make(self, path: bytes, mode: int) -> bool:
        above, name = os.path.split(path)
        os.mkdir(name, 0o700, dir_fd=self._tree.writable(above))
        self._tree.set_mode(path, stat.S_IMODE(mode))
        return True

    def _remove(self, path: bytes) -> bool:
        above, name = os.path.split(path)
        self._tree.forget(path)
        os.rmdir(name, dir_fd=self._tree.writable(above))
        return True

    def _set_mode(self, path: bytes, before: int) -> bool:
        self._tree.set_mode(path, stat.S_IMODE(before))
        return True


def restore(
    root: WorktreeRoot,
    plan: Restoration,
    staged: Staged,
    *,
    unlock: bool = True,
    durable: bool = True,
    takes_back: bool = False,
) -> None:
    """Carry `plan` out with the contents in `staged`; durable on return, unless that is not asked.

    The caller holds the task's lock, has the present state in a snapshot, and has looked for
    `obstacles`. A directory that forbids writing is opened for it with `unlock`; else it is a
    PermissionError. Raises WorkspaceReplaced when the root is not the recorded directory.

    An OSError leaves what is done so far; with `takes_back` that is exchanged back, and CannotMove
    says that nothing was changed.
    """
    check_root(root)
    with OpenTree(root.path, private=plan.modes is not None, unlock=unlock) as tree:
        journal = Journal(tree)
        try:
            _carry_out(tree, plan, staged, journal, durable=durable)
        except OSError as error:
            from siding.record.files.obstacles import CannotMove, stuck_by_error

            stuck = stuck_by_error(root, journal.at, error)
            if takes_back and journal.take_back():
                staged.displacing = False
                raise CannotMove(stuck) from error
            error.filename, error.filename2 = os.path.join(root.path, os.fsdecode(journal.at)), None
            raise


def _carry_out(
    tree: OpenTree, plan: Restoration, staged: Staged, journal: Journal, *, durable: bool
) -> None:
    narrowed = _narrow(tree, plan, journal)
    staged.displacing = True
    touched = _delete(tree, plan, staged, journal)
    for change in plan.writes:
        _put(tree, change.path, staged.entry(change.path), journal)
        touched.add(os.path.dirname(change.path))
    for path in plan.directories:
        touched |= _make_empty(tree, path, journal)
    for path in plan.removed:
        touched |= _remove_empty(tree, path, journal)
    if durable:
        flush_names(staged.fd)
        tree.flush(touched)
    changed = _set_modes(tree, plan, narrowed, journal)
    if durable:
        tree.flush_modes(changed)


def _narrow(tree: OpenTree, plan: Restoration, journal: Journal) -> list[bytes]:
    """Take permissions that others lose away from directories, before files are put into them.

    The owner keeps all of its permissions until the end, to be able to work in them. Returns the
    directories; nothing is flushed yet.
    """
    narrowed = []
    for change in sorted(plan.chmods):
        if not change.is_directory:
            continue
        present = tree.mode(change.path)
        if present is not None and stat.S_ISDIR(present):
            with suppress(PermissionError):  # it shows in the end that it is not as planned
                tree.set_mode(change.path, stat.S_IMODE(present) & change.after | 0o700)
                journal.changed_mode(change.path, present)
                narrowed.append(change.path)
    return narrowed


def _set_modes(
    tree: OpenTree, plan: Restoration, narrowed: list[bytes], journal: Journal
) -> set[bytes]:
    """Set all permissions, the deepest paths first; return those to flush, with the `narrowed`."""
    wanted = {change.path: (change.after, change.is_directory) for change in plan.chmods}
    final = {path: (mode, True) for path, mode in tree.unlocked.items()}
    if plan.modes is not None:
        final |= {path: (plan.modes.of_directory(path), True) for path in tree.made}
    changed = {*narrowed}
    for path, (mode, is_directory) in sorted((final | wanted).items(), reverse=True):
        present = tree.mode(path)
        expected = stat.S_IFDIR if is_directory else stat.S_IFREG
        if present is None or stat.S_IFMT(present) != expected or stat.S_IMODE(present) == mode:
            continue
        with suppress(PermissionError):  # it shows in the end that it is not as planned
            tree.set_mode(path, mode)
            journal.changed_mode(path, present)
            changed.add(path)
    return changed


def _delete(tree: OpenTree, plan: Restoration, staged: Staged, journal: Journal) -> set[bytes]:
    """Move the paths out, remove the directories that this has emptied; return those touched."""
    touched: set[bytes] = set()
    for change in plan.deletes:
        directory, name = os.path.split(change.path)
        journal.at = change.path
        if tree.is_directory(change.path):
            continue  # somebody has made it meanwhile
        try:
            above, aside = tree.writable(directory), staged.entry(change.path)
            os.rename(name, aside.name, src_dir_fd=above, dst_dir_fd=aside.directory)
        except (FileNotFoundError, NotADirectoryError):
            continue
        journal.moved_out(change.path, aside)
        touched.add(directory)
    prune(tree, touched, plan.directories, journal.removed)
    return touched


def _put(tree: OpenTree, path: bytes, new: Entry, journal: Journal) -> None:
    """Put a staged entry into its place; what is there is in the staging directory then."""
    journal.at = path
    above, name = os.path.split(path)
    _clear_directory(tree, path, _made(tree, above, journal), journal)
    displaced = put(new, Entry(tree.writable(above), name))
    journal.put(path, new, displaced=displaced)


def _made(tree: OpenTree, path: bytes, journal: Journal) -> int:
    """Make a directory, if it is not there, and return a descriptor of it."""
    before = len(tree.made)
    try:
        return tree.make(path)
    finally:
        for made in tree.made[before:]:
            journal.made(made)


def _clear_directory(tree: OpenTree, path: bytes, above: int, journal: Journal) -> None:
    """Remove an empty directory that stands where a file shall be.

    One with files in it was made after `obstacles` had looked: it is displaced as a whole.
    """
    mode = tree.mode(path)
    try:
        os.rmdir(os.path.basename(path), dir_fd=above)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        for below, is_directory in tree.listing(path):
            if is_directory:
                _clear_directory(tree, below, tree.writable(path), journal)
        above = tree.writable(os.path.dirname(path))
        with suppress(OSError):
            os.rmdir(os.path.basename(path), dir_fd=above)
            journal.removed(path, mode or 0o700)
    else:
        journal.removed(path, mode or 0o700)
    tree.forget(path)


def _make_empty(tree: OpenTree, path: bytes, journal: Journal) -> set[bytes]:
    """Make an empty directory where nothing is; something else in its place is left alone."""
    if tree.exists(path):
        return set()
    journal.at = path
    try:
        _made(tree, path, journal)
    except (FileExistsError, NotADirectoryError):
        return set()
    return {path, os.path.dirname(path)}


def _remove_empty(tree: OpenTree, path: bytes, journal: Journal) -> set[bytes]:
    """Remove a directory if it is empty in this very moment; anything else stays as it is."""
    above, name = os.path.split(path)
    journal.at, mode = path, tree.mode(path)
    try:
        os.rmdir(name, dir_fd=tree.writable(above))
    except OSError as error:
        if error.errno not in STAYS:
            raise
        return set()
    journal.removed(path, mode or 0o700)
    tree.forget(path)
    return {above}


def _identity(entry: Entry) -> tuple[int, int]:
    try:
        found = os.stat(entry.name, dir_fd=entry.directory, follow_symlinks=False)
    except FileNotFoundError:
        return (0, 0)
    return found.st_dev, found.st_ino


def _last_name(new: Entry) -> Entry:
    """Return the name of what was displaced: that of `new`, or the last with a number behind it,
    where names cannot be exchanged."""
    found = new
    with suppress(FileNotFoundError):
        for number in count():
            candidate = Entry(new.directory, b"%b.%d" % (new.name, number))
            os.stat(candidate.name, dir_fd=candidate.directory, follow_symlinks=False)
            found = candidate
    return found


def _nothing(path: bytes, mode: int) -> None:
    del path, mode


def prune(
    tree: OpenTree,
    touched: set[bytes],
    keep: Collection[bytes],
    removed: Callable[[bytes, int], None] = _nothing,
) -> None:
    """Remove those of these directories, and of their parents, that are empty; update `touched`.

    `removed` is told each one with the mode that it had.
    """
    for directory in sorted(touched | {p for t in touched for p in parents(t)}, reverse=True):
        if not directory or directory in keep:
            continue
        above, name = os.path.split(directory)
        mode = tree.mode(directory)
        try:
            os.rmdir(name, dir_fd=tree.writable(above))
        except OSError as error:
            if error.errno not in STAYS:
                raise
            continue
        tree.forget(directory)
        removed(directory, mode or 0o700)
        touched.discard(directory)
        touched.add(above)
